package admin

import (
	"fmt"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
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

// badge sends how many calls and changes of tools wait for a person, and how many notices this one has not read, where these are other
// numbers than before.
func (s *stream) badge() error {
	now, err := s.h.store.Tenant(s.actor.Tenant.ID).News(s.ctx, s.actor.UserID)
	if err != nil {
		return fmt.Errorf("count news: %w", err)
	}
	var before store.News // as most pages begin
	if s.news != nil {
		before = *s.news
	}
	s.news = &now
	if now.Approvals != before.Approvals {
		if err := s.show(templates.WaitingChanged(now.Approvals)); err != nil {
			return err
		}
	}
	if now.Changes != before.Changes {
		if err := s.show(templates.ChangesWaiting(now.Changes)); err != nil {
			return err
		}
	}
	if now.Unread != before.Unread {
		return s.show(templates.UnreadChanged(now.Unread))
	}
	return nil
}
