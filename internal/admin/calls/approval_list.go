package calls

import (
	"context"
	"net/http"
	"slices"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
	"patchbay/web"
	"patchbay/web/templates"
)

// InboxPageSize is small, because each call is shown with all of its arguments.
const InboxPageSize = 25

// approvalList shows the inbox.
func (h *Handler) approvalList(w http.ResponseWriter, r *http.Request) error {
	cursor := r.URL.Query().Get("cursor")
	list, err := h.Calls.ListPendingApprovals(r.Context(), shell.Actor(r), store.Page{Limit: InboxPageSize, Cursor: cursor})
	if err != nil {
		return err
	}
	frame := h.NewFrame(r, templates.NavApprovals, shell.NewCrumb(i18n.T(r.Context(), "Approvals"), ""))
	if cursor == "" {
		frame.Listen = approvalEventsPath(list.Items)
	}
	cards, err := h.ApprovalCards(r.Context(), shell.Actor(r), list.Items)
	if err != nil {
		return err
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Approvals(templates.ApprovalsPage{Frame: frame, Rows: cards, Pager: shell.WithTotal(shell.NewPager(r, list.Next, len(list.Items)), frame.Waiting)}))
}

// approvalEventsPath is the event stream of calls newer than the list's first one.
func approvalEventsPath(list []toolcall.PendingApproval) string {
	if len(list) == 0 {
		return "/events?on=approvals"
	}
	return "/events?on=approvals&after=" + list[0].ID.String()
}

// ApprovalCards builds a card for each call with a fixed number of queries.
func (h *Handler) ApprovalCards(ctx context.Context, a auth.Actor, list []toolcall.PendingApproval) ([]templates.ApprovalCard, error) {
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
	var marks shell.Marks
	err := h.Store.Tenant(a.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if about, err = a.ApprovalsAbout(ctx, tx, ids); err != nil {
			return err
		}
		if counts, err = tx.Agents().CallCounts(ctx, agents, tools); err != nil {
			return err
		}
		marks, err = shell.ReadMarks(ctx, h.Shell, tx, ids, func(id connectors.ToolCallID) string { return about[id].ConnectorSlug })
		return err
	})
	if err != nil {
		return nil, err
	}
	cards := make([]templates.ApprovalCard, len(list))
	for i, w := range list {
		known := pendingApproval{PendingApproval: w, about: about[w.ID], counts: store.CountFor(counts, w.Approval)}
		cards[i] = approvalCard(ctx, web.Asset, known, shell.ToPermissions(a.Role), h.Now())
		cards[i].ReturnTo, cards[i].Mark = "/approvals", marks.Mark(known.about.ConnectorName, known.about.ConnectorSlug)
	}
	return cards, nil
}

var approvalColumns = []export.Column[waitingApproval]{
	{Name: "id", Of: func(a waitingApproval) any { return a.ID.String() }},
	{Name: "asked_at", Of: func(a waitingApproval) any { return a.AskedAt }},
	{Name: "expires_at", Of: func(a waitingApproval) any { return a.ExpiresAt }},
	{Name: "agent", Of: func(a waitingApproval) any { return a.about.AgentSlug }},
	{Name: "connector", Of: func(a waitingApproval) any { return a.about.ConnectorSlug }},
	{Name: "tool", Of: func(a waitingApproval) any { return a.Tool }},
	{Name: "exposed_name", Of: func(a waitingApproval) any { return a.ExposedName }},
	{Name: "state", Of: func(a waitingApproval) any { return a.State }},
}

// waitingApproval is a waiting call with its agent and connector.
type waitingApproval struct {
	connectors.Approval
	about store.ApprovalAbout
}

// approvalFile is the inbox without arguments, which are for the deciders alone.
func (h *Handler) approvalFile(w http.ResponseWriter, r *http.Request) error {
	tenant := h.TenantStore(r)
	list := func(ctx context.Context, p store.Page) (store.List[waitingApproval], error) {
		var waiting store.List[connectors.Approval]
		var about map[connectors.ToolCallID]store.ApprovalAbout
		err := tenant.Snapshot(ctx, func(tx *store.Tenant) (err error) {
			if waiting, err = tx.Calls().WaitingApprovals(ctx, p); err != nil {
				return err
			}
			ids := make([]connectors.ToolCallID, len(waiting.Items))
			for i, a := range waiting.Items {
				ids[i] = a.ID
			}
			about, err = tx.Agents().ApprovalsAbout(ctx, ids)
			return err
		})
		if err != nil {
			return store.List[waitingApproval]{}, err
		}
		rows := store.List[waitingApproval]{Next: waiting.Next}
		for _, a := range waiting.Items {
			rows.Items = append(rows.Items, waitingApproval{a, about[a.ID]})
		}
		return rows, nil
	}
	// Each row reads its tool's definition, which may be long.
	return shell.TableFile[waitingApproval]{Name: "approvals", Columns: approvalColumns, List: list, Limit: InboxPageSize}.Serve(h.Shell, w, r)
}
