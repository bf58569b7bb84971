package events

import (
	"context"
	"fmt"

	callpages "patchbay/internal/admin/calls"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
	"patchbay/web/templates"
)

// approvalUpdates sends calls that begin or cease to wait for approval. after is the newest call on the page:
// ids grow with time.
func (s *stream) approvalUpdates(after string) func() error {
	var known map[connectors.ToolCallID]bool
	isNew := func(id connectors.ToolCallID) bool {
		if known == nil {
			return id.String() > after
		}
		return !known[id]
	}
	return func() error {
		list, err := s.h.Store.Tenant(s.actor.Tenant.ID).Calls().WaitingApprovals(s.ctx, store.Page{Limit: callpages.InboxPageSize})
		if err != nil {
			return fmt.Errorf("list approvals: %w", err)
		}
		waiting := map[connectors.ToolCallID]bool{}
		var added, removed []connectors.ToolCallID
		for _, a := range list.Items {
			waiting[a.ID] = true
			if isNew(a.ID) {
				added = append([]connectors.ToolCallID{a.ID}, added...) // newest last: each is put above the others
			}
		}
		for id := range known {
			if !waiting[id] {
				removed = append(removed, id)
			}
		}
		known = waiting
		return s.sendApprovals(added, removed)
	}
}

func (s *stream) sendApprovals(added, removed []connectors.ToolCallID) error {
	if len(added) == 0 && len(removed) == 0 {
		return nil
	}
	if err := s.checkSession(); err != nil {
		return err
	}
	var update templates.ApprovalNews
	var err error
	if update.Come, err = s.loadApprovalCards(s.ctx, added); err != nil {
		return err
	}
	if update.Decided, err = s.loadApprovalCards(s.ctx, removed); err != nil {
		return err
	}
	return s.sendComponent(templates.ApprovalsChanged(update))
}

func (s *stream) loadApprovalCards(ctx context.Context, ids []connectors.ToolCallID) ([]templates.ApprovalCard, error) {
	var list []toolcall.PendingApproval
	for _, id := range ids {
		w, err := s.h.Calls.Approval(ctx, s.actor, id)
		if fault.Is(err, fault.NotFound) {
			continue // its agent or connector was deleted
		}
		if err != nil {
			return nil, fmt.Errorf("read approval: %w", err)
		}
		list = append(list, w)
	}
	if len(list) == 0 {
		return nil, nil
	}
	return s.h.CallPages.ApprovalCards(ctx, s.actor, list)
}
