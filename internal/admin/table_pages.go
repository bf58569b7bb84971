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

// Files of the tables, each with the filters of its page.

func (h *Handler) connectorFile(w http.ResponseWriter, r *http.Request) error {
	filter := readConnectorFilter(r)
	return tableFile[connectors.Connector]{name: "connectors", columns: connectorColumns, list: func(ctx context.Context, p store.Page) (store.List[connectors.Connector], error) {
		filter.Page = p
		return h.tenantStore(r).Connectors(ctx, filter)
	}}.serve(h, w, r)
}

func (h *Handler) toolFile(w http.ResponseWriter, r *http.Request) error {
	return h.toolsFile(w, r, store.ToolFilter{Query: strings.TrimSpace(r.URL.Query().Get("q"))})
}

func (h *Handler) connectorToolFile(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenantStore(r).Connector(r.Context(), pathRef(r, "id"))
	if err != nil {
		return err
	}
	filter, _ := toolQuery(r, c)
	return h.toolsFile(w, r, filter)
}

func (h *Handler) toolsFile(w http.ResponseWriter, r *http.Request, filter store.ToolFilter) error {
	return tableFile[connectors.Tool]{name: "tools", columns: toolColumns, list: func(ctx context.Context, p store.Page) (store.List[connectors.Tool], error) {
		filter.Page = p
		return h.tenantStore(r).Tools(ctx, filter)
	}}.serve(h, w, r)
}

func (h *Handler) syncRunFile(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenantStore(r).Connector(r.Context(), pathRef(r, "id"))
	if err != nil {
		return err
	}
	columns := append([]export.Column[connectors.SyncRun]{{Name: "connector", Of: func(connectors.SyncRun) any { return c.Slug }}}, syncRunColumns...)
	return tableFile[connectors.SyncRun]{name: "sync-runs", columns: columns, list: func(ctx context.Context, p store.Page) (store.List[connectors.SyncRun], error) {
		return h.tenantStore(r).SyncRuns(ctx, c.ID, p)
	}}.serve(h, w, r)
}

func (h *Handler) agentFile(w http.ResponseWriter, r *http.Request) error {
	return tableFile[connectors.Agent]{name: "agents", columns: agentColumns, list: h.tenantStore(r).Agents}.serve(h, w, r)
}

func (h *Handler) callFile(w http.ResponseWriter, r *http.Request) error {
	return h.callsFile(w, r, "calls", callColumns, h.calls.CallsIn)
}

func (h *Handler) taskFile(w http.ResponseWriter, r *http.Request) error {
	return h.callsFile(w, r, "tasks", taskColumns, h.calls.TasksIn)
}

// callsFile is the file of a list that is filtered as calls are.
func (h *Handler) callsFile(w http.ResponseWriter, r *http.Request, name string, columns []export.Column[connectors.ToolCall], read readCalls) error {
	filter, err := h.callFilter(r.Context(), h.tenantStore(r), readCallQuery(r.URL.Query()), nil, nil)
	if err != nil {
		return err
	}
	list := func(ctx context.Context, p store.Page) (store.List[connectors.ToolCall], error) {
		filter.Page = p
		return read(ctx, h.tenantStore(r), actor(r), filter)
	}
	if filter.Limit < 0 {
		list = emptyList[connectors.ToolCall]
	}
	return tableFile[connectors.ToolCall]{name: name, columns: columns, list: list}.serve(h, w, r)
}

func (h *Handler) changeFile(w http.ResponseWriter, r *http.Request) error {
	tenant := h.tenantStore(r)
	filter, possible, err := readChangeQuery(r.URL.Query()).toFilter(r.Context(), tenant, nil)
	if err != nil {
		return err
	}
	list := func(ctx context.Context, p store.Page) (store.List[connectors.ToolChange], error) {
		filter.Page = p
		return tenant.Changes(ctx, filter)
	}
	if !possible {
		list = emptyList[connectors.ToolChange]
	}
	return tableFile[connectors.ToolChange]{name: "changes", columns: changeColumns, list: list}.serve(h, w, r)
}

// waitingApproval is a waiting call with its agent and connector.
type waitingApproval struct {
	connectors.Approval
	about store.ApprovalAbout
}

// approvalFile is the inbox without arguments, which are for the deciders alone.
func (h *Handler) approvalFile(w http.ResponseWriter, r *http.Request) error {
	tenant := h.tenantStore(r)
	list := func(ctx context.Context, p store.Page) (store.List[waitingApproval], error) {
		var waiting store.List[connectors.Approval]
		var about map[connectors.ToolCallID]store.ApprovalAbout
		err := tenant.Snapshot(ctx, func(tx *store.Tenant) (err error) {
			if waiting, err = tx.WaitingApprovals(ctx, p); err != nil {
				return err
			}
			ids := make([]connectors.ToolCallID, len(waiting.Items))
			for i, a := range waiting.Items {
				ids[i] = a.ID
			}
			about, err = tx.ApprovalsAbout(ctx, ids)
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
	return tableFile[waitingApproval]{name: "approvals", columns: approvalColumns, list: list, limit: inboxPageSize}.serve(h, w, r)
}

func (h *Handler) auditFile(w http.ResponseWriter, r *http.Request) error {
	filter, ok := readAuditQuery(r.URL.Query()).toFilter("")
	if !ok {
		return fault.Errorf(fault.Malformed, "Write days as 2026-11-21.")
	}
	return tableFile[store.RecordedEvent]{name: "audit", columns: auditColumns, list: func(ctx context.Context, p store.Page) (store.List[store.RecordedEvent], error) {
		filter.Page = p
		return h.tenantStore(r).AuditEvents(ctx, filter)
	}}.serve(h, w, r)
}

func (h *Handler) deliveryFile(w http.ResponseWriter, r *http.Request) error {
	hook, err := h.findWebhook(r)
	if err != nil {
		return err
	}
	columns := append([]export.Column[connectors.Delivery]{{Name: "webhook", Of: func(connectors.Delivery) any { return hook.Name }}}, deliveryColumns...)
	return tableFile[connectors.Delivery]{name: "deliveries", columns: columns, list: func(ctx context.Context, p store.Page) (store.List[connectors.Delivery], error) {
		return h.tenantStore(r).Deliveries(ctx, hook.ID, p)
	}}.serve(h, w, r)
}

func (h *Handler) memberFile(w http.ResponseWriter, r *http.Request) error {
	return tableFile[connectors.Member]{name: "members", columns: memberColumns, list: h.tenantStore(r).Members}.serve(h, w, r)
}

func (h *Handler) keyFile(w http.ResponseWriter, r *http.Request) error {
	return tableFile[connectors.APIKey]{name: "api-keys", columns: keyColumns, list: h.tenantStore(r).APIKeys}.serve(h, w, r)
}
