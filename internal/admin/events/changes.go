package events

import (
	"fmt"
	"slices"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// changeListUpdates sends the first page of the query's changes when it changed.
func (s *stream) changeListUpdates(q toolpages.ChangeQuery) func() error {
	var last []store.ChangeMark
	first := true
	return func() error {
		tenant := s.h.Store.Tenant(s.actor.Tenant.ID)
		filter, possible, err := q.ToFilter(s.ctx, tenant.Connectors(), nil)
		if err != nil || !possible {
			return err
		}
		filter.Limit = s.size
		now, err := tenant.Tools().ChangeMarks(s.ctx, filter)
		if err != nil {
			return fmt.Errorf("look at changes: %w", err)
		}
		if !first && slices.Equal(now, last) {
			return nil
		}
		changes, err := toolpages.ReadChanges(s.ctx, s.h.Shell, tenant, filter)
		if err != nil {
			return fmt.Errorf("list changes: %w", err)
		}
		first, last = false, now
		return s.sendComponent(templates.ChangesChanged(s.h.ToolPages.ChangeListView(s.ctx, changes, q, shell.ToPermissions(s.actor.Role), shell.FirstPager("/changes", q.URLValues(), s.size, changes.Next, len(changes.Items)))))
	}
}
