package admin

import (
	"context"
	"net/http"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
	"patchbay/web"
	"patchbay/web/templates"
)

// inboxPageSize is small, because each call is shown with all of its arguments.
const inboxPageSize = 25

// approvalList shows the inbox.
func (h *Handler) approvalList(w http.ResponseWriter, r *http.Request) error {
	cursor := r.URL.Query().Get("cursor")
	list, err := h.calls.ListPendingApprovals(r.Context(), actor(r), store.Page{Limit: inboxPageSize, Cursor: cursor})
	if err != nil {
		return err
	}
	frame := h.newFrame(r, templates.NavApprovals, newCrumb(i18n.T(r.Context(), "Approvals"), ""))
	if cursor == "" {
		frame.Listen = approvalEventsPath(list.Items)
	}
	cards, err := h.approvalCards(r.Context(), actor(r), list.Items)
	if err != nil {
		return err
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Approvals(templates.ApprovalsPage{Frame: frame, Rows: cards, Pager: newPager(r, list.Next)}))
}

// approvalEventsPath is the event stream of calls newer than the list's first one.
func approvalEventsPath(list []toolcall.PendingApproval) string {
	if len(list) == 0 {
		return "/events?on=approvals"
	}
	return "/events?on=approvals&after=" + list[0].ID.String()
}

// approvalCards builds a card for each call with two queries in total.
func (h *Handler) approvalCards(ctx context.Context, a auth.Actor, list []toolcall.PendingApproval) ([]templates.ApprovalCard, error) {
	var ids []connectors.ToolCallID
	var agents []connectors.AgentID
	var tools []string
	for _, w := range list {
		ids, tools = append(ids, w.ID), append(tools, w.Tool)
		if !slices.Contains(agents, w.AgentID) {
			agents = append(agents, w.AgentID)
		}
	}
	var about map[connectors.ToolCallID]store.ApprovalAbout
	var counts []store.CallCount
	err := h.store.Tenant(a.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if about, err = tx.ApprovalsAbout(ctx, ids); err != nil {
			return err
		}
		counts, err = tx.CallCounts(ctx, agents, tools)
		return err
	})
	if err != nil {
		return nil, err
	}
	cards := make([]templates.ApprovalCard, len(list))
	for i, w := range list {
		known := pendingApproval{PendingApproval: w, about: about[w.ID], counts: store.CountFor(counts, w.Approval)}
		cards[i] = approvalCard(ctx, web.Asset, known, toPermissions(a.Role), h.now())
		cards[i].ReturnTo = "/approvals"
	}
	return cards, nil
}
