package events

import (
	"fmt"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web/templates"
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

// sendBadges sends the numbers of waiting calls, waiting changes and unread notices when they changed.
func (s *stream) sendBadges() error {
	now, err := s.h.Store.Tenant(s.actor.Tenant.ID).People().News(s.ctx, s.actor.UserID)
	if err != nil {
		return fmt.Errorf("count news: %w", err)
	}
	var before store.BadgeCounts // as most pages begin
	if s.badges != nil {
		before = *s.badges
	}
	s.badges = &now
	if now.Approvals != before.Approvals {
		if err := s.sendComponent(templates.WaitingChanged(now.Approvals)); err != nil {
			return err
		}
	}
	if now.Changes != before.Changes {
		if err := s.sendComponent(templates.ChangesWaiting(now.Changes)); err != nil {
			return err
		}
	}
	if now.Unread != before.Unread {
		return s.sendComponent(templates.UnreadChanged(now.Unread))
	}
	return nil
}
