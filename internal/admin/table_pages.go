package admin

import (
	"context"
	"net/http"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// The files of the tables, each with the filters of its page.

func (h *Handler) connectorFile(w http.ResponseWriter, r *http.Request) error {
	filter := readConnectorFilter(r)
	return tableFile[connectors.Connector]{name: "connectors", columns: connectorColumns, list: func(ctx context.Context, p store.Page) (store.List[connectors.Connector], error) {
		filter.Page = p
		return h.tenant(r).Connectors(ctx, filter)
	}}.answer(h, w, r)
}

func (h *Handler) toolFile(w http.ResponseWriter, r *http.Request) error {
	return h.toolsFile(w, r, store.ToolFilter{Query: strings.TrimSpace(r.URL.Query().Get("q"))})
}

func (h *Handler) connectorToolFile(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenant(r).Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	filter, _ := toolQuery(r, c)
	return h.toolsFile(w, r, filter)
}

func (h *Handler) toolsFile(w http.ResponseWriter, r *http.Request, filter store.ToolFilter) error {
	return tableFile[connectors.Tool]{name: "tools", columns: toolColumns, list: func(ctx context.Context, p store.Page) (store.List[connectors.Tool], error) {
		filter.Page = p
		return h.tenant(r).Tools(ctx, filter)
	}}.answer(h, w, r)
}

func (h *Handler) syncRunFile(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenant(r).Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	columns := append([]export.Column[connectors.SyncRun]{{Name: "connector", Of: func(connectors.SyncRun) any { return c.Slug }}}, syncRunColumns...)
	return tableFile[connectors.SyncRun]{name: "sync-runs", columns: columns, list: func(ctx context.Context, p store.Page) (store.List[connectors.SyncRun], error) {
		return h.tenant(r).SyncRuns(ctx, c.ID, p)
	}}.answer(h, w, r)
}

func (h *Handler) agentFile(w http.ResponseWriter, r *http.Request) error {
	return tableFile[connectors.Agent]{name: "agents", columns: agentColumns, list: h.tenant(r).Agents}.answer(h, w, r)
}

func (h *Handler) callFile(w http.ResponseWriter, r *http.Request) error {
	return h.callsFile(w, r, "calls", callColumns, h.calls.Calls)
}

func (h *Handler) taskFile(w http.ResponseWriter, r *http.Request) error {
	return h.callsFile(w, r, "tasks", taskColumns, h.calls.Tasks)
}

// callsFile is the file of a list that is filtered as the calls are.
func (h *Handler) callsFile(w http.ResponseWriter, r *http.Request, name string, columns []export.Column[connectors.ToolCall], read readCalls) error {
	filter, err := h.callFilter(r.Context(), h.tenant(r), readCallQuery(r.URL.Query()), nil, nil)
	if err != nil {
		return err
	}
	list := func(ctx context.Context, p store.Page) (store.List[connectors.ToolCall], error) {
		filter.Page = p
		return read(ctx, actor(r), filter)
	}
	if filter.Limit < 0 {
		list = nothingIn[connectors.ToolCall]
	}
	return tableFile[connectors.ToolCall]{name: name, columns: columns, list: list}.answer(h, w, r)
}

func (h *Handler) changeFile(w http.ResponseWriter, r *http.Request) error {
	tenant := h.tenant(r)
	filter, some, err := readChangeQuery(r.URL.Query()).filter(r.Context(), tenant, nil)
	if err != nil {
		return err
	}
	list := func(ctx context.Context, p store.Page) (store.List[connectors.ToolChange], error) {
		filter.Page = p
		return tenant.Changes(ctx, filter)
	}
	if !some {
		list = nothingIn[connectors.ToolChange]
	}
	return tableFile[connectors.ToolChange]{name: "changes", columns: changeColumns, list: list}.answer(h, w, r)
}

// waitingApproval is a call that waits, with whose it is.
type waitingApproval struct {
	connectors.Approval
	about store.ApprovalAbout
}

// approvalFile has the inbox, without arguments: these are for the eyes of those who decide.
func (h *Handler) approvalFile(w http.ResponseWriter, r *http.Request) error {
	tenant := h.tenant(r)
	list := func(ctx context.Context, p store.Page) (store.List[waitingApproval], error) {
		waiting, err := tenant.WaitingApprovals(ctx, p)
		if err != nil {
			return store.List[waitingApproval]{}, err
		}
		ids := make([]connectors.ToolCallID, len(waiting.Items))
		for i, a := range waiting.Items {
			ids[i] = a.ID
		}
		about, err := tenant.ApprovalsAbout(ctx, ids)
		if err != nil {
			return store.List[waitingApproval]{}, err
		}
		rows := store.List[waitingApproval]{Next: waiting.Next}
		for _, a := range waiting.Items {
			rows.Items = append(rows.Items, waitingApproval{a, about[a.ID]})
		}
		return rows, nil
	}
	// What approvals are about brings the tools' definitions along, of which each may be long.
	return tableFile[waitingApproval]{name: "approvals", columns: approvalColumns, list: list, limit: inboxPage}.answer(h, w, r)
}

func (h *Handler) auditFile(w http.ResponseWriter, r *http.Request) error {
	filter, ok := readAuditQuery(r.URL.Query()).filter("")
	if !ok {
		return fault.Errorf(fault.Malformed, "Write days as 2026-11-21.")
	}
	return tableFile[store.RecordedEvent]{name: "audit", columns: auditColumns, list: func(ctx context.Context, p store.Page) (store.List[store.RecordedEvent], error) {
		filter.Page = p
		return h.tenant(r).AuditEvents(ctx, filter)
	}}.answer(h, w, r)
}

func (h *Handler) deliveryFile(w http.ResponseWriter, r *http.Request) error {
	hook, err := h.webhook(r)
	if err != nil {
		return err
	}
	columns := append([]export.Column[connectors.Delivery]{{Name: "webhook", Of: func(connectors.Delivery) any { return hook.Name }}}, deliveryColumns...)
	return tableFile[connectors.Delivery]{name: "deliveries", columns: columns, list: func(ctx context.Context, p store.Page) (store.List[connectors.Delivery], error) {
		return h.tenant(r).Deliveries(ctx, hook.ID, p)
	}}.answer(h, w, r)
}

func (h *Handler) memberFile(w http.ResponseWriter, r *http.Request) error {
	return tableFile[connectors.Member]{name: "members", columns: memberColumns, list: h.tenant(r).Members}.answer(h, w, r)
}

func (h *Handler) keyFile(w http.ResponseWriter, r *http.Request) error {
	return tableFile[connectors.APIKey]{name: "api-keys", columns: keyColumns, list: h.tenant(r).APIKeys}.answer(h, w, r)
}
