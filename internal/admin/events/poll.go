package events

import (
	"time"

	"patchbay/internal/connectors"
)

// A stream polls at most every minPollInterval when this process reports changes, and at least every
// pollInterval, because other replicas make changes too.
const (
	minPollInterval = 250 * time.Millisecond
	pollInterval    = time.Second
)

// pollUpdates calls poll repeatedly, earlier when changed receives.
func (s *stream) pollUpdates(changed <-chan connectors.ToolCall, poll func() error) error {
	alive, ticker := time.NewTicker(keepAliveInterval), time.NewTicker(pollInterval)
	defer alive.Stop()
	defer ticker.Stop()
	if err := s.send([]byte(": connected\n\n")); err != nil {
		return err
	}
	var delayed <-chan time.Time // nil: nothing changed since the last poll
	for {
		if delayed == nil {
			if err := s.pollOnce(poll); err != nil {
				return err
			}
		}
		select {
		case <-s.ctx.Done():
			return nil
		case <-s.h.Done:
			return nil
		case <-changed:
			if delayed == nil {
				delayed = time.After(minPollInterval)
			}
			continue
		case <-delayed:
			delayed = nil
		case <-ticker.C:
			delayed = nil
		case <-alive.C:
			if err := s.send([]byte(": keep-alive\n\n")); err != nil {
				return err
			}
		}
	}
}

func (s *stream) pollOnce(pollOnce func() error) error {
	if err := s.sendBadges(); err != nil {
		return err
	}
	return pollOnce()
}
