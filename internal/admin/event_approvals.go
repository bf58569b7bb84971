package admin

import (
	"context"
	"fmt"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
	"patchbay/web/templates"
)

// approvals sends the calls that begin to wait for a person, and those that wait no more. after is the newest call that the page
// shows: ids grow with time.
func (s *stream) approvals(after string) func() error {
	var known map[connectors.ToolCallID]bool
	isNew := func(id connectors.ToolCallID) bool {
		if known == nil {
			return id.String() > after
		}
		return !known[id]
	}
	return func() error {
		list, err := s.h.store.Tenant(s.actor.Tenant.ID).WaitingApprovals(s.ctx, store.Page{Limit: inboxPage})
		if err != nil {
			return fmt.Errorf("list approvals: %w", err)
		}
		waiting := map[connectors.ToolCallID]bool{}
		var come, gone []connectors.ToolCallID
		for _, a := range list.Items {
			waiting[a.ID] = true
			if isNew(a.ID) {
				come = append([]connectors.ToolCallID{a.ID}, come...) // the newest last: it is put above the others
			}
		}
		for id := range known {
			if !waiting[id] {
				gone = append(gone, id)
			}
		}
		known = waiting
		return s.approvalNews(come, gone)
	}
}

func (s *stream) approvalNews(come, gone []connectors.ToolCallID) error {
	if len(come) == 0 && len(gone) == 0 {
		return nil
	}
	if err := s.check(); err != nil {
		return err
	}
	var news templates.ApprovalNews
	var err error
	if news.Come, err = s.cards(s.ctx, come); err != nil {
		return err
	}
	if news.Decided, err = s.cards(s.ctx, gone); err != nil {
		return err
	}
	return s.show(templates.ApprovalsChanged(news))
}

func (s *stream) cards(ctx context.Context, ids []connectors.ToolCallID) ([]templates.ApprovalCard, error) {
	var list []toolcall.Waiting
	for _, id := range ids {
		w, err := s.h.calls.Approval(ctx, s.actor, id)
		if fault.Is(err, fault.NotFound) {
			continue // its agent or its connector was deleted
		}
		if err != nil {
			return nil, fmt.Errorf("read approval: %w", err)
		}
		list = append(list, w)
	}
	if len(list) == 0 {
		return nil, nil
	}
	return s.h.approvalCards(ctx, s.actor, list)
}
