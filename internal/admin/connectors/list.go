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

// connectorList lists the connectors, filtered by words, state, authentication, transport and tag.
func (h *Handler) connectorList(w http.ResponseWriter, r *http.Request) error {
	ctx, filter := r.Context(), ReadConnectorFilter(r)
	var (
		stats    store.Stats
		list     store.List[store.ConnectorSummary]
		total    int
		tags     []string
		agents   store.List[connectors.Agent]
		expiring []store.ExpiringCredential
		sweep    connectors.BulkSync
	)
	err := h.TenantStore(r).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if stats, err = tx.Connectors().Stats(ctx); err != nil {
			return err
		}
		if list, total, err = tx.Lists().Connectors(ctx, filter, h.CountsSince()); err != nil {
			return err
		}
		if tags, err = tx.Lists().ConnectorTags(ctx); err != nil {
			return err
		}
		if agents, err = tx.Agents().List(ctx, store.Page{Limit: store.MaxLimit}); err != nil {
			return err
		}
		if expiring, err = tx.Accounts().ExpiringCredentials(ctx, ExpiryHorizon, MaxExpiring); err != nil {
			return err
		}
		sweep, err = tx.Syncs().NewestSweep(ctx)
		return err
	})
	if err != nil {
		return err
	}
	query := r.URL.Query()
	pager := shell.WithTotal(shell.NewPager(r, list.Next, len(list.Items)), total)
	page := templates.ConnectorsPage{
		Frame:    h.NewFrame(r, templates.NavConnectors, shell.NewCrumb(i18n.T(ctx, "Connectors"), "")),
		Stats:    connectorStats(ctx, stats),
		Heads:    shell.NewHeads(r, ConnectorOrder),
		Filter:   templates.Form{Values: map[string]string{}},
		Statuses: statusOptions(ctx), Auths: authOptions(ctx), Transports: transportOptions(ctx), Tags: shell.TagOptions(ctx, tags),
		Filtered: filter.Query != "" || filter.Status != "" || filter.AuthType != "" || filter.Transport != "" || filter.Tag != "",
		Count:    shell.FormatCount(ctx, len(list.Items), pager, "%s connector", "%s connectors"),
		Pager:    pager,
		Expiring: expiringAccountsView(ctx, expiring, h.Now()),
		Sweep:    SweepView(ctx, sweep, h.Now()),
	}
	for _, name := range []string{"q", "status", "auth", "transport", "tag", "sort"} {
		page.Filter.Values[name] = query.Get(name)
	}
	page.Frame.Listen = shell.WithQuery("/events", query)
	page.Bulk = newConnectorBulk(r, agents.Items, page.Frame.Can)
	for _, c := range list.Items {
		row := ConnectorRow(ctx, c.Connector, page.Frame.Can, page.Frame.Path, h.Now())
		row.Mark = h.ConnectorMark(c.Connector)
		AddFigures(ctx, &row, c.Connector, c.ConnectorFigures)
		row.Chosen = page.Bulk != nil && page.Bulk.All
		page.Rows = append(page.Rows, row)
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Connectors(page))
}

// AddFigures adds what the list alone shows of a connector.
func AddFigures(ctx context.Context, row *templates.ConnectorRow, c connectors.Connector, f store.ConnectorFigures) {
	if row.Actions {
		row.Box = c.Slug
	}
	row.Figures = &templates.RowFigures{
		UsedBy: i18n.Number(ctx, f.Agents), UsedByHref: row.Href + "/access?access=granted",
		Calls: shell.FormatCalls(ctx, f.Recent), Failed: shell.FormatFailed(ctx, f.Recent), CallsHref: row.Href + "/calls?range=24h",
	}
	row.Tags = c.Tags
}

func authOptions(ctx context.Context) []templates.Option {
	options := []templates.Option{{Label: i18n.T(ctx, "Any credential")}}
	for _, a := range []connectors.AuthType{
		connectors.AuthNone, connectors.AuthBearer, connectors.AuthAPIKey, connectors.AuthBasic, connectors.AuthOAuth2, connectors.AuthClientCredentials, connectors.AuthPrivateKeyJWT,
	} {
		options = append(options, templates.Option{Value: string(a), Label: shell.AuthName(ctx, a)})
	}
	return options
}

func transportOptions(ctx context.Context) []templates.Option {
	options := []templates.Option{{Label: i18n.T(ctx, "Any transport")}}
	for _, t := range []connectors.Transport{connectors.TransportStreamableHTTP, connectors.TransportSSE, connectors.TransportHTTP, connectors.TransportStdio, connectors.TransportAPI} {
		options = append(options, templates.Option{Value: string(t), Label: shell.TransportName(ctx, t)})
	}
	return options
}

// ReadConnectorFilter reads the filters of a list of connectors from an address.
func ReadConnectorFilter(r *http.Request) store.ConnectorFilter {
	query := r.URL.Query()
	return store.ConnectorFilter{
		Query:  strings.TrimSpace(query.Get("q")),
		Status: connectors.ConnectorStatus(query.Get("status")),

		Transport: connectors.Transport(query.Get("transport")),
		AuthType:  connectors.AuthType(query.Get("auth")),
		Tag:       query.Get("tag"),

		Page: shell.ReadPage(r),
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
	{Name: "tags", Of: func(c connectors.Connector) any { return c.Tags }},
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
