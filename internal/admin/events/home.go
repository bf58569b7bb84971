package events

import (
	"fmt"
	"reflect"
	"time"

	"patchbay/internal/admin/home"
	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// needsUpdates sends the home page's list when it changed. hasSteps: the page has the checklist of the first steps.
func (s *stream) needsUpdates(hasSteps bool) func() error {
	var last *connectors.Needs
	var looked time.Time
	var badges store.BadgeCounts
	var steps *connectors.FirstSteps // as last sent; nil: none yet
	return func() error {
		now := s.h.Now()
		if last != nil && now.Sub(looked) < needsPollInterval && s.badges.BadgeCounts == badges {
			return nil
		}
		looked, badges = now, s.badges.BadgeCounts
		if err := s.sendFirstSteps(&steps, hasSteps); err != nil {
			return err
		}
		needs, err := s.h.Store.Tenant(s.actor.Tenant.ID).Lists().AttentionItems(s.ctx, home.MaxNeedsShown)
		if err != nil {
			return fmt.Errorf("read what needs a person: %w", err)
		}
		if last != nil && reflect.DeepEqual(*last, needs) {
			return nil
		}
		last = &needs
		if err := s.checkSession(); err != nil {
			return err
		}
		return s.sendComponent(templates.NeedsChanged(home.NeedsView(s.ctx, s.h.Shell, needs, shell.ToPermissions(s.actor.Role))))
	}
}

// sendFirstSteps sends the checklist when a step was done, also if that was the last one before the stream began. A page of a
// tenant that did all of them has no checklist.
func (s *stream) sendFirstSteps(last **connectors.FirstSteps, onPage bool) error {
	if !home.ShowsFirstSteps(s.actor) || *last != nil && (*last).Done() {
		return nil
	}
	now, err := s.h.Store.Tenant(s.actor.Tenant.ID).Lists().FirstSteps(s.ctx)
	if err != nil {
		return fmt.Errorf("read the first steps: %w", err)
	}
	before := *last
	*last = &now
	if before == nil && !(onPage && now.Done()) || before != nil && *before == now {
		return nil
	}
	return s.sendComponent(templates.FirstStepsChanged(home.FirstStepsView(s.ctx, now)))
}
