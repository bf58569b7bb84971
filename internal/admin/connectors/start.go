package connectors

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/toolsync"
	"patchbay/web/templates"
)

const (
	startTools  = 12 // tools on the start page
	startAgents = 5  // agents on the start page
)

// firstSyncWait is how long a browser waits for a new connector's first sync, which goes on after it.
const firstSyncWait = 2 * time.Second

// startPath is the page that shows a new connector's tools and the next step.
func startPath(slug string) string { return shell.ConnectorPath(slug) + "/start" }

// queueFirstSync queues a new connector's first sync, and waits a moment for it.
func (h *Handler) queueFirstSync(r *http.Request, c connectors.Connector) error {
	tenant := shell.Actor(r).Tenant.ID
	run, err := h.Syncer.Queue(r.Context(), tenant, toolsync.Request{
		Connector: connectors.Ref(c.ID.String()), Trigger: connectors.TriggerManual, AuditEvent: new(shell.Actor(r).Event("connector.sync", "")),
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), firstSyncWait)
	defer cancel()
	if _, err := h.Syncer.Await(ctx, tenant, run.ID); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// SyncImported queues the first syncs of imported connectors that lack nothing, and returns their number.
func (h *Handler) SyncImported(r *http.Request, report manage.ImportReport) (queued int, err error) {
	for _, e := range report.Entries {
		if e.Outcome != manage.Created && e.Outcome != manage.Updated || e.Connector == nil || e.Missing.What != "" || !e.Connector.Enabled {
			continue
		}
		_, err := h.Syncer.Queue(r.Context(), shell.Actor(r).Tenant.ID, toolsync.Request{
			Connector: connectors.Ref(e.Connector.ID.String()), Trigger: connectors.TriggerManual, AuditEvent: new(shell.Actor(r).Event("connector.sync", "")),
		})
		if err != nil {
			return queued, err
		}
		queued++
	}
	return queued, nil
}

// StartConnector syncs a new connector that lacks nothing, and leads to the page of its first steps.
func (h *Handler) StartConnector(w http.ResponseWriter, r *http.Request, c connectors.Connector) error {
	if err := h.queueFirstSync(r, c); err != nil {
		return err
	}
	return h.Respond.Back(w, r, startPath(c.Slug), respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Added “%s”.", c.Name)})
}

// connectorStart shows a new connector's first sync, its tools, and a form that gives them to an agent.
func (h *Handler) connectorStart(w http.ResponseWriter, r *http.Request) error {
	var c connectors.Connector
	var tools store.List[connectors.Tool]
	var agents store.List[connectors.Agent]
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if c, err = tx.Connectors().Get(r.Context(), shell.PathRef(r, "id")); err != nil {
			return err
		}
		if tools, err = tx.Tools().List(r.Context(), store.ToolFilter{Connector: &c.ID, Page: store.Page{Limit: startTools}}); err != nil {
			return err
		}
		agents, err = tx.Agents().List(r.Context(), store.Page{Limit: startAgents})
		return err
	})
	if err != nil {
		return err
	}
	ctx := r.Context()
	page := templates.ConnectorStartPage{
		Frame:   h.ConnectorFrame(r, c, i18n.T(ctx, "Get started")),
		Name:    c.Name,
		Href:    shell.ConnectorPath(c.Slug),
		Mark:    h.ConnectorMark(c),
		Line:    i18n.N(ctx, c.ToolCount, "%s tool", "%s tools"),
		Syncing: c.Running != nil || c.Status == connectors.StatusNeverSynced && h.Now().Sub(c.CreatedAt) < time.Minute,
		Tools:   h.ToolPages.ToolViews(ctx, tools.Items),
		Setup: templates.AgentSetup{
			Form:      templates.Form{Values: map[string]string{"approval": string(shell.Actor(r).Tenant.Defaults.Approval)}},
			Approvals: shell.ApprovalOptions(ctx), Choices: []templates.SetupChoice{{Slug: c.Slug, Name: c.Name}}, Fixed: true,
		},
	}
	page.Frame.Listen = ""
	if tools.Next != "" {
		page.More = shell.AllTools(ctx, c.ToolCount)
	}
	if reason := statusReason(ctx, c); reason != "" && !page.Syncing {
		page.Problem = &templates.Attention{Kind: templates.StateBad, Title: shell.StatusName(ctx, c.Status), Text: reason, Action: repairLink(ctx, c)}
	}
	for _, a := range agents.Items {
		page.Agents = append(page.Agents, templates.Link{Text: a.Name, Href: shell.AgentPath(a.Slug) + "/connectors/" + c.Slug})
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.ConnectorStart(page))
}
