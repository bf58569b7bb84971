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

// needsPollInterval is the interval of the home page's list. It is read earlier when the badges change.
const needsPollInterval = 5 * time.Second

// needsUpdates sends the home page's list when it changed.
func (s *stream) needsUpdates() func() error {
	var last *connectors.Needs
	var looked time.Time
	var badges store.BadgeCounts
	return func() error {
		now := s.h.Now()
		if last != nil && now.Sub(looked) < needsPollInterval && *s.badges == badges {
			return nil
		}
		looked, badges = now, *s.badges
		needs, err := s.h.Store.Tenant(s.actor.Tenant.ID).AttentionItems(s.ctx, home.MaxNeedsShown)
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
