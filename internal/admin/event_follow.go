package admin

import (
	"fmt"
	"time"

	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// How often a stream looks at what may have changed: at most so often where this process hears of changes, and so often in any case,
// for another replica may have made them.
const (
	lookAtMost = 250 * time.Millisecond
	lookAnyway = time.Second
)

// follow looks again and again, sooner where something is heard, and lets look send what is new.
func (s *stream) follow(heard <-chan connectors.ToolCall, look func() error) error {
	alive, anyway := time.NewTicker(keepAlive), time.NewTicker(lookAnyway)
	defer alive.Stop()
	defer anyway.Stop()
	if err := s.send([]byte(": connected\n\n")); err != nil {
		return err
	}
	var soon <-chan time.Time // nil: nothing was heard since the last look
	for {
		if soon == nil {
			if err := s.look(look); err != nil {
				return err
			}
		}
		select {
		case <-s.ctx.Done():
			return nil
		case <-s.h.done:
			return nil
		case <-heard:
			if soon == nil {
				soon = time.After(lookAtMost)
			}
			continue
		case <-soon:
			soon = nil
		case <-anyway.C:
			soon = nil
		case <-alive.C:
			if err := s.send([]byte(": keep-alive\n\n")); err != nil {
				return err
			}
		}
	}
}

func (s *stream) look(look func() error) error {
	if err := s.badge(); err != nil {
		return err
	}
	return look()
}

// badge sends how many calls wait for a person, where that is another number than before.
func (s *stream) badge() error {
	n, err := s.h.store.Tenant(s.actor.Tenant.ID).CountWaitingApprovals(s.ctx)
	if err != nil {
		return fmt.Errorf("count approvals: %w", err)
	}
	if n == s.waiting {
		return nil
	}
	first := s.waiting < 0
	s.waiting = n
	if first && n == 0 {
		return nil // as most pages begin
	}
	return s.show(templates.WaitingChanged(n))
}
