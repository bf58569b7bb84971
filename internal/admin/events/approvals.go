package events

import (
	"context"
	"fmt"
	"maps"
	"slices"

	callpages "patchbay/internal/admin/calls"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
	"patchbay/web/templates"
)

// approvalList is the state of a stream of approvals.
type approvalList struct {
	s       *stream
	after   string                             // the newest call on the page: ids grow with time
	single  connectors.ToolCallID              // the call of a page about one; zero: the list
	waiting map[connectors.ToolCallID]bool     // nil: not read yet
	decided map[connectors.ToolCallID]cardMark // followed until they end
}

// cardMark is the part of a card that changes after the decision. The end of a call is stored after that of its approval.
type cardMark struct {
	state, progress, percent string
	ended                    bool
}

// approvalUpdates sends calls that begin or cease to wait for approval, and those decided until they have ended.
func (s *stream) approvalUpdates(after, single string) func() error {
	l := &approvalList{s: s, after: after, decided: map[connectors.ToolCallID]cardMark{}}
	if id, ok := connectors.Ref(single).UUID(); ok {
		l.single = connectors.ToolCallID{UUID: id}
		l.decided[l.single] = cardMark{}
	}
	return l.updateCards
}

func (l *approvalList) updateCards() error {
	list, err := l.s.h.Store.Tenant(l.s.actor.Tenant.ID).Calls().WaitingApprovals(l.s.ctx, store.Page{Limit: callpages.InboxPageSize})
	if err != nil {
		return fmt.Errorf("list approvals: %w", err)
	}
	waiting := map[connectors.ToolCallID]bool{}
	var added []connectors.ToolCallID
	for _, a := range list.Items {
		waiting[a.ID] = true
		if l.isNew(a.ID) && l.single == (connectors.ToolCallID{}) {
			added = append([]connectors.ToolCallID{a.ID}, added...) // newest last: each is put above the others
		}
	}
	for id := range l.waiting {
		if _, followed := l.decided[id]; !waiting[id] && !followed && l.single == (connectors.ToolCallID{}) {
			l.decided[id] = cardMark{}
		}
	}
	l.waiting = waiting
	if len(added) == 0 && len(l.decided) == 0 {
		return nil
	}
	return l.sendCards(added)
}

func (l *approvalList) isNew(id connectors.ToolCallID) bool {
	if l.waiting == nil {
		return id.String() > l.after
	}
	return !l.waiting[id]
}

func (l *approvalList) sendCards(added []connectors.ToolCallID) error {
	if err := l.s.checkSession(); err != nil {
		return err
	}
	come, err := l.s.loadApprovalCards(l.s.ctx, added)
	if err != nil {
		return err
	}
	decided, err := l.s.loadApprovalCards(l.s.ctx, slices.Collect(maps.Keys(l.decided)))
	if err != nil {
		return err
	}
	update, loaded := templates.ApprovalNews{Come: come}, map[string]bool{}
	for _, card := range decided {
		loaded[card.ID] = true
		changed, err := l.hasChanged(&card)
		if err != nil {
			return err
		}
		if changed {
			update.Decided = append(update.Decided, card)
		}
	}
	maps.DeleteFunc(l.decided, func(id connectors.ToolCallID, _ cardMark) bool { return !loaded[id.String()] }) // deleted meanwhile, or ended
	if len(update.Come) == 0 && len(update.Decided) == 0 {
		return nil
	}
	return l.s.sendComponent(templates.ApprovalsChanged(update))
}

// hasChanged reports whether a decided call looks different than before. One that has ended is followed no more.
func (l *approvalList) hasChanged(card *templates.ApprovalCard) (bool, error) {
	raw, _ := connectors.Ref(card.ID).UUID()
	id := connectors.ToolCallID{UUID: raw}
	mark := cardMark{state: card.State.Text}
	ended := !card.Waiting && !card.Open
	if !card.Waiting {
		call, err := l.s.h.Calls.ReadSummary(l.s.ctx, l.s.actor, id)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return false, fmt.Errorf("read call: %w", err)
		}
		if err == nil {
			callpages.FollowCall(l.s.ctx, card, call, l.s.actor, l.single == id, l.s.h.Now())
			mark.progress, mark.percent, mark.ended = card.Call.Progress, card.Call.Percent, call.Status.Ended()
			ended = ended && call.Status.Ended()
		}
	}
	if l.single == id {
		card.ReturnTo = card.Action
	}
	before := l.decided[id]
	l.decided[id] = mark
	if ended {
		delete(l.decided, id)
	}
	return before != mark && (before != cardMark{} || !card.Waiting), nil // a page of its own begins with the waiting card
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
