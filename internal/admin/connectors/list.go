package connectors

import (
	"context"
	"net/http"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// connectorList lists the connectors, filtered by words and state.
func (h *Handler) connectorList(w http.ResponseWriter, r *http.Request) error {
	filter := ReadConnectorFilter(r)
	var (
		stats    store.Stats
		list     store.List[connectors.Connector]
		expiring []store.ExpiringCredential
		sweep    connectors.BulkSync
	)
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if stats, err = tx.Connectors().Stats(r.Context()); err != nil {
			return err
		}
		if list, err = tx.Connectors().List(r.Context(), filter); err != nil {
			return err
		}
		if expiring, err = tx.Accounts().ExpiringCredentials(r.Context(), ExpiryHorizon, MaxExpiring); err != nil {
			return err
		}
		sweep, err = tx.Syncs().NewestSweep(r.Context())
		return err
	})
	if err != nil {
		return err
	}
	page := templates.ConnectorsPage{
		Frame:    h.NewFrame(r, templates.NavConnectors, shell.NewCrumb(i18n.T(r.Context(), "Connectors"), "")),
		Stats:    connectorStats(r.Context(), stats),
		Heads:    shell.NewHeads(r, ConnectorOrder),
		Sort:     r.URL.Query().Get("sort"),
		Query:    filter.Query,
		Status:   string(filter.Status),
		Statuses: statusOptions(r.Context()),
		Filtered: filter.Query != "" || filter.Status != "",
		Count:    shell.FormatCount(r.Context(), len(list.Items), shell.NewPager(r, list.Next), "%s connector", "%s connectors"),
		Pager:    shell.NewPager(r, list.Next),
		Expiring: expiringAccountsView(r.Context(), expiring, h.Now()),
		Sweep:    SweepView(r.Context(), sweep, h.Now()),
	}
	page.Frame.Listen = shell.WithQuery("/events", r.URL.Query())
	if !page.Filtered {
		page.Count = i18n.N(r.Context(), stats.Connectors, "%s connector", "%s connectors")
	}
	for _, c := range list.Items {
		row := ConnectorRow(r.Context(), c, page.Frame.Can, page.Frame.Path, h.Now())
		row.Mark = h.ConnectorMark(c)
		page.Rows = append(page.Rows, row)
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Connectors(page))
}

// ReadConnectorFilter reads the filters of a list of connectors from an address.
func ReadConnectorFilter(r *http.Request) store.ConnectorFilter {
	query := r.URL.Query()
	return store.ConnectorFilter{
		Query:  strings.TrimSpace(query.Get("q")),
		Status: connectors.ConnectorStatus(query.Get("status")),
		Page:   shell.ReadPage(r),
	}
}

// ConnectorOrder has the sort keys of connectors, with the store's names.
var ConnectorOrder = []shell.Column{{Name: "name"}, {Name: "status"}, {Name: "tools", Descending: true}, {Name: "synced", Descending: true}}

var connectorColumns = []export.Column[connectors.Connector]{
	{Name: "id", Of: func(c connectors.Connector) any { return c.ID.String() }},
	{Name: "slug", Of: func(c connectors.Connector) any { return c.Slug }},
	{Name: "name", Of: func(c connectors.Connector) any { return c.Name }},
	{Name: "description", Of: func(c connectors.Connector) any { return c.Description }},
	{Name: "transport", Of: func(c connectors.Connector) any { return c.Transport }},
	{Name: "url", Of: func(c connectors.Connector) any { return c.URL }},
	{Name: "auth_type", Of: func(c connectors.Connector) any { return c.Auth.Type }},
	{Name: "credential_mode", Of: func(c connectors.Connector) any { return c.CredentialMode }},
	{Name: "enabled", Of: func(c connectors.Connector) any { return c.Enabled }},
	{Name: "status", Of: func(c connectors.Connector) any { return c.Status }},
	{Name: "tool_count", Of: func(c connectors.Connector) any { return c.ToolCount }},
	{Name: "tools_last_synced_at", Of: func(c connectors.Connector) any { return c.ToolsLastSyncedAt }},
	{Name: "last_error", Of: func(c connectors.Connector) any {
		if c.LastError == nil {
			return nil
		}
		return c.LastError.Message
	}},
	{Name: "protocol_version", Of: func(c connectors.Connector) any { return c.Server.ProtocolVersion }},
	{Name: "created_at", Of: func(c connectors.Connector) any { return c.CreatedAt }},
	{Name: "updated_at", Of: func(c connectors.Connector) any { return c.UpdatedAt }},
}

func (h *Handler) connectorFile(w http.ResponseWriter, r *http.Request) error {
	filter := ReadConnectorFilter(r)
	return shell.TableFile[connectors.Connector]{Name: "connectors", Columns: connectorColumns, List: func(ctx context.Context, p store.Page) (store.List[connectors.Connector], error) {
		filter.Page = p
		return h.TenantStore(r).Connectors().List(ctx, filter)
	}}.Serve(h.Shell, w, r)
}
