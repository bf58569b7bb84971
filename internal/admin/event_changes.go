package admin

import (
	"fmt"
	"slices"

	"patchbay/internal/store"
	"patchbay/web/templates"
)

// changesOf sends the first page of the changes that a query finds, whenever it is another one.
func (s *stream) changesOf(q changeQuery) func() error {
	var last []store.ChangeMark
	first := true
	return func() error {
		tenant := s.h.store.Tenant(s.actor.Tenant.ID)
		filter, some, err := q.filter(s.ctx, tenant, nil)
		if err != nil || !some {
			return err
		}
		filter.Limit = s.size
		now, err := tenant.ChangeMarks(s.ctx, filter)
		if err != nil {
			return fmt.Errorf("look at changes: %w", err)
		}
		if !first && slices.Equal(now, last) {
			return nil
		}
		changes, err := tenant.Changes(s.ctx, filter)
		if err != nil {
			return fmt.Errorf("list changes: %w", err)
		}
		first, last = false, now
		return s.show(templates.ChangesChanged(s.h.changeListView(s.ctx, changes, q, abilities(s.actor.Role), firstPager("/changes", q.values(), s.size, changes.Next))))
	}
}
