package connectors

import (
	"context"
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// connectorRuns lists a connector's sync runs, newest first.
func (h *Handler) connectorRuns(w http.ResponseWriter, r *http.Request) error {
	var (
		c      connectors.Connector
		runs   store.List[connectors.SyncRun]
		agents map[connectors.AgentID]string
		total  int
	)
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if c, err = tx.Connectors().Get(r.Context(), shell.PathRef(r, "id")); err != nil {
			return err
		}
		if runs, err = tx.Syncs().List(r.Context(), c.ID, shell.ReadPage(r)); err != nil {
			return err
		}
		if total, err = tx.Lists().SyncRuns(r.Context(), c.ID); err != nil {
			return err
		}
		agents, err = agentNames(r.Context(), tx.Agents())
		return err
	})
	if err != nil {
		return err
	}
	page := templates.ConnectorRunsPage{
		Frame: h.ConnectorFrame(r, c, i18n.T(r.Context(), "Sync runs")),
		Head:  ConnectorHead(r.Context(), c, templates.TabOverview, h.ConnectorMark(c)),
		Pager: shell.WithBoundedTotal(shell.NewPager(r, runs.Next, len(runs.Items)), total),
	}
	for _, run := range runs.Items {
		page.Rows = append(page.Rows, syncRunRow(r.Context(), run, c.Slug, agents, h.Now()))
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.ConnectorRuns(page))
}

var syncRunColumns = []export.Column[connectors.SyncRun]{
	{Name: "id", Of: func(s connectors.SyncRun) any { return s.ID.String() }},
	{Name: "agent_id", Of: func(s connectors.SyncRun) any {
		if s.AgentID == nil {
			return nil
		}
		return s.AgentID.String()
	}},
	{Name: "trigger", Of: func(s connectors.SyncRun) any { return s.Trigger }},
	{Name: "state", Of: func(s connectors.SyncRun) any { return s.State }},
	{Name: "queued_at", Of: func(s connectors.SyncRun) any { return s.QueuedAt }},
	{Name: "started_at", Of: func(s connectors.SyncRun) any { return s.StartedAt }},
	{Name: "finished_at", Of: func(s connectors.SyncRun) any { return s.FinishedAt }},
	{Name: "duration_ms", Of: func(s connectors.SyncRun) any { return shell.ToMilliseconds(s.Duration()) }},
	{Name: "total", Of: func(s connectors.SyncRun) any { return s.Counts.Total }},
	{Name: "added", Of: func(s connectors.SyncRun) any { return s.Counts.Added }},
	{Name: "changed", Of: func(s connectors.SyncRun) any { return s.Counts.Changed }},
	{Name: "removed", Of: func(s connectors.SyncRun) any { return s.Counts.Removed }},
	{Name: "quarantined", Of: func(s connectors.SyncRun) any { return s.Counts.Quarantined }},
	{Name: "protocol_version", Of: func(s connectors.SyncRun) any { return s.ProtocolVersion }},
	{Name: "error_code", Of: func(s connectors.SyncRun) any { return s.ErrorCode }},
	{Name: "error_message", Of: func(s connectors.SyncRun) any { return s.ErrorMessage }},
	{Name: "cancelled_by", Of: func(s connectors.SyncRun) any { return s.CancelledBy }},
	{Name: "repeats", Of: func(s connectors.SyncRun) any { return s.Repeats }},
	{Name: "repeated_at", Of: func(s connectors.SyncRun) any { return s.RepeatedAt }},
}

func (h *Handler) syncRunFile(w http.ResponseWriter, r *http.Request) error {
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	columns := append([]export.Column[connectors.SyncRun]{{Name: "connector", Of: func(connectors.SyncRun) any { return c.Slug }}}, syncRunColumns...)
	return shell.TableFile[connectors.SyncRun]{Name: "sync-runs", Columns: columns, List: func(ctx context.Context, p store.Page) (store.List[connectors.SyncRun], error) {
		return h.TenantStore(r).Syncs().List(ctx, c.ID, p)
	}}.Serve(h.Shell, w, r)
}
