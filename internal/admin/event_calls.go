package admin

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/web"
	"patchbay/web/templates"
)

// callLook is what of a call makes it look another way.
type callLook struct {
	id     connectors.ToolCallID
	status connectors.CallStatus
	task   [sha256.Size]byte
	far    string
}

func lookOfCall(ctx context.Context, c connectors.ToolCall) callLook {
	return callLook{id: c.ID, status: c.Status, task: sha256.Sum256(c.Task), far: howFar(ctx, c.Progress)}
}

// readCalls reads a list of calls.
type readCalls func(context.Context, auth.Actor, store.CallFilter) (store.List[connectors.ToolCall], error)

// callsOf sends the first page of the calls that a query finds, whenever it is another one.
func (s *stream) callsOf(q callQuery) func() error {
	return s.listOf(q, s.h.calls.Calls, func(calls store.List[connectors.ToolCall]) error {
		return s.show(templates.CallsChanged(s.h.callListView(s.ctx, calls, q, abilities(s.actor.Role), firstPager("/calls", q.values(), s.size, calls.Next))))
	})
}

// tasksOf sends the first page of the tasks that a query finds, whenever it is another one.
func (s *stream) tasksOf(q callQuery) func() error {
	return s.listOf(q, s.h.calls.Tasks, func(tasks store.List[connectors.ToolCall]) error {
		return s.show(templates.TasksChanged(s.h.taskListView(s.ctx, tasks, q, abilities(s.actor.Role), firstPager("/tasks", q.values(), s.size, tasks.Next))))
	})
}

// listOf sends the first page of a list, whenever it is another one.
func (s *stream) listOf(q callQuery, read readCalls, send func(store.List[connectors.ToolCall]) error) func() error {
	var last []callLook
	first := true
	return func() error {
		filter, err := s.h.callFilter(s.ctx, s.h.store.Tenant(s.actor.Tenant.ID), q, nil, nil)
		if err != nil || filter.Limit < 0 {
			return err
		}
		filter.Limit = s.size
		list, err := read(s.ctx, s.actor, filter)
		if err != nil {
			return fmt.Errorf("list calls: %w", err)
		}
		var now []callLook
		for _, c := range list.Items {
			now = append(now, lookOfCall(s.ctx, c))
		}
		if !first && slices.Equal(now, last) {
			return nil
		}
		first, last = false, now
		return send(list)
	}
}

// callOf sends one call, whenever it has moved on.
func (s *stream) callOf(ref connectors.Ref) func() error {
	id, _ := ref.UUID() // what is none is nobody's
	var last callLook
	return func() error {
		if last.status.Ended() && last.status != "" {
			return nil
		}
		if err := s.check(); err != nil { // the settings say what may be shown
			return err
		}
		c, err := s.h.calls.Glance(s.ctx, s.actor, connectors.ToolCallID{UUID: id})
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read call: %w", err)
		}
		if lookOfCall(s.ctx, c) == last {
			return nil
		}
		last = lookOfCall(s.ctx, c)
		return s.show(templates.CallChanged(callDetail(s.ctx, web.Asset, c, s.actor.Tenant.CallHistory, abilities(s.actor.Role), s.h.now())))
	}
}
