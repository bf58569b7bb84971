package admin

import (
	"fmt"
	"reflect"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// needsAtLeast is how often a stream looks at all that may need a person. It looks sooner where the badges' numbers change.
const needsAtLeast = 5 * time.Second

// needs sends what waits for a person, whenever that is something else than before.
func (s *stream) needs() func() error {
	var last *connectors.Needs
	var looked time.Time
	var badges store.News
	return func() error {
		now := s.h.now()
		if last != nil && now.Sub(looked) < needsAtLeast && *s.news == badges {
			return nil
		}
		looked, badges = now, *s.news
		needs, err := s.h.store.Tenant(s.actor.Tenant.ID).Needs(s.ctx, needsShown)
		if err != nil {
			return fmt.Errorf("read what needs a person: %w", err)
		}
		if last != nil && reflect.DeepEqual(*last, needs) {
			return nil
		}
		last = &needs
		if err := s.check(); err != nil {
			return err
		}
		return s.show(templates.NeedsChanged(needsView(s.ctx, needs, abilities(s.actor.Role), now)))
	}
}
