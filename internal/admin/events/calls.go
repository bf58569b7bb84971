package events

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	callpages "patchbay/internal/admin/calls"
	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/web"
	"patchbay/web/templates"
)

// callAppearance is the part of a call that changes its row.
type callAppearance struct {
	id       connectors.ToolCallID
	status   connectors.CallStatus
	task     [sha256.Size]byte
	progress string
}

func newCallAppearance(ctx context.Context, c connectors.ToolCall) callAppearance {
	return callAppearance{id: c.ID, status: c.Status, task: sha256.Sum256(c.Task), progress: callpages.ServerProgress(ctx, c.Progress)}
}

// callListUpdates sends the first page of the query's calls when it changed, and their chart at most every
// needsPollInterval.
func (s *stream) callListUpdates(q callpages.CallQuery) func() error {
	var chart callpages.Chart
	var charted time.Time
	isOld := false
	list := s.listUpdates(q, s.h.Calls.CallsIn, func(calls callpages.MarkedCalls) error {
		isOld = true
		pager := chart.AddTotal(shell.FirstPager("/calls", q.URLValues(), s.size, calls.Next, len(calls.Items)))
		return s.sendComponent(templates.CallsChanged(s.h.CallPages.CallListView(s.ctx, calls, q, shell.ToPermissions(s.actor.Role), pager)))
	})
	return func() error {
		if now := s.h.Now(); isOld && now.Sub(charted) >= needsPollInterval || charted.IsZero() {
			var err error
			if chart, err = s.h.CallPages.Chart(s.ctx, s.h.Store.Tenant(s.actor.Tenant.ID), q); err != nil {
				return fmt.Errorf("count calls: %w", err)
			}
			isOld, charted = false, now
			if err := s.sendComponent(templates.CallChartChanged(chart.View)); err != nil {
				return err
			}
		}
		return list()
	}
}

// taskListUpdates sends the first page of the query's tasks when it changed.
func (s *stream) taskListUpdates(q callpages.CallQuery) func() error {
	return s.listUpdates(q, s.h.Calls.TasksIn, func(tasks callpages.MarkedCalls) error {
		pager, err := s.h.CallPages.AddTaskTotal(s.ctx, s.h.Store.Tenant(s.actor.Tenant.ID), q, shell.FirstPager("/tasks", q.URLValues(), s.size, tasks.Next, len(tasks.Items)))
		if err != nil {
			return err
		}
		return s.sendComponent(templates.TasksChanged(s.h.CallPages.TaskListView(s.ctx, tasks, q, shell.ToPermissions(s.actor.Role), pager)))
	})
}

// listUpdates sends the first page of a list when it changed.
func (s *stream) listUpdates(q callpages.CallQuery, read callpages.ReadCalls, send func(callpages.MarkedCalls) error) func() error {
	var last []callAppearance
	first := true
	return func() error {
		tenant := s.h.Store.Tenant(s.actor.Tenant.ID)
		filter, err := s.h.CallPages.CallFilter(s.ctx, tenant, q, nil, nil)
		if err != nil || filter.Limit < 0 {
			return err
		}
		filter.Limit = s.size
		list, err := read(s.ctx, tenant, s.actor, filter)
		if err != nil {
			return fmt.Errorf("list calls: %w", err)
		}
		var now []callAppearance
		for _, c := range list.Items {
			now = append(now, newCallAppearance(s.ctx, c))
		}
		if !first && slices.Equal(now, last) {
			return nil
		}
		marked, err := callpages.ReadMarked(s.ctx, s.h.Shell, tenant, list)
		if err != nil {
			return err
		}
		first, last = false, now
		return send(marked)
	}
}

// callUpdates sends one call when it changed.
func (s *stream) callUpdates(ref connectors.Ref) func() error {
	id, _ := ref.UUID() // an invalid id matches no call
	var last callAppearance
	return func() error {
		if last.status.Ended() && last.status != "" {
			return nil
		}
		if err := s.checkSession(); err != nil { // the tenant's settings say what may be shown
			return err
		}
		c, err := s.h.Calls.ReadSummary(s.ctx, s.actor, connectors.ToolCallID{UUID: id})
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read call: %w", err)
		}
		if newCallAppearance(s.ctx, c) == last {
			return nil
		}
		last = newCallAppearance(s.ctx, c)
		detail := callpages.CallDetail(s.ctx, web.Asset, c, s.actor.Tenant.CallHistory, shell.ToPermissions(s.actor.Role), s.h.Now())
		if err := callpages.MarkCall(s.ctx, s.h.Shell, s.h.Store.Tenant(s.actor.Tenant.ID), c, &detail.Call); err != nil {
			return err
		}
		return s.sendComponent(templates.CallChanged(detail))
	}
}
