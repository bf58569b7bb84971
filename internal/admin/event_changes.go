package admin

import (
	"fmt"
	"slices"

	"patchbay/internal/store"
	"patchbay/web/templates"
)

// changeListUpdates sends the first page of the query's changes when it changed.
func (s *stream) changeListUpdates(q changeQuery) func() error {
	var last []store.ChangeMark
	first := true
	return func() error {
		tenant := s.h.store.Tenant(s.actor.Tenant.ID)
		filter, possible, err := q.toFilter(s.ctx, tenant, nil)
		if err != nil || !possible {
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
		return s.sendComponent(templates.ChangesChanged(s.h.changeListView(s.ctx, changes, q, toPermissions(s.actor.Role), firstPager("/changes", q.urlValues(), s.size, changes.Next))))
	}
}
