package admin

import (
	"fmt"
	"slices"

	"patchbay/web/templates"
)

// tasksOf sends the first page of the tasks that a query finds, whenever it is another one.
func (s *stream) tasksOf(q callQuery) func() error {
	var last []callLook
	first := true
	return func() error {
		tenant := s.h.store.Tenant(s.actor.Tenant.ID)
		filter, err := s.h.callFilter(s.ctx, tenant, q, nil, nil)
		if err != nil || filter.Limit < 0 {
			return err
		}
		tasks, err := tenant.TaskCalls(s.ctx, filter)
		if err != nil {
			return fmt.Errorf("list tasks: %w", err)
		}
		var now []callLook
		for _, c := range tasks.Items {
			now = append(now, lookOfCall(c))
		}
		if !first && slices.Equal(now, last) {
			return nil
		}
		first, last = false, now
		return s.show(templates.TasksChanged(s.h.taskListView(tasks, q, abilities(s.actor.Role), firstPager("/tasks", q.values(), tasks.Next))))
	}
}
