package tools

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

var toolColumns = []export.Column[connectors.Tool]{
	{Name: "connector", Of: func(t connectors.Tool) any { return t.ConnectorSlug }},
	{Name: "name", Of: func(t connectors.Tool) any { return t.Name }},
	{Name: "title", Of: func(t connectors.Tool) any { return t.Title }},
	{Name: "description", Of: func(t connectors.Tool) any { return t.Description }},
	{Name: "alias", Of: func(t connectors.Tool) any { return t.Alias }},
	{Name: "agent_description", Of: func(t connectors.Tool) any { return t.AgentText }},
	{Name: "enabled", Of: func(t connectors.Tool) any { return t.Enabled }},
	{Name: "review", Of: func(t connectors.Tool) any { return t.Review }},
	{Name: "tags", Of: func(t connectors.Tool) any { return t.Tags }},
	{Name: "definition_hash", Of: func(t connectors.Tool) any { return t.Hash.String() }},
	{Name: "first_seen_at", Of: func(t connectors.Tool) any { return t.FirstSeenAt }},
	{Name: "changed_at", Of: func(t connectors.Tool) any { return t.ChangedAt }},
	{Name: "last_seen_at", Of: func(t connectors.Tool) any { return t.LastSeenAt }},
	{Name: "removed_at", Of: func(t connectors.Tool) any { return t.RemovedAt }},
}

func (h *Handler) toolFile(w http.ResponseWriter, r *http.Request) error {
	return h.toolsFile(w, r, store.ToolFilter{Query: strings.TrimSpace(r.URL.Query().Get("q"))})
}

func (h *Handler) connectorToolFile(w http.ResponseWriter, r *http.Request) error {
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	filter, _ := ToolQuery(r, c)
	return h.toolsFile(w, r, filter)
}

func (h *Handler) toolsFile(w http.ResponseWriter, r *http.Request, filter store.ToolFilter) error {
	return shell.TableFile[connectors.Tool]{Name: "tools", Columns: toolColumns, List: func(ctx context.Context, p store.Page) (store.List[connectors.Tool], error) {
		filter.Page = p
		return h.TenantStore(r).Tools().List(ctx, filter)
	}}.Serve(h.Shell, w, r)
}

// toolSearch searches the tools of all connectors.
func (h *Handler) toolSearch(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	filter := store.ToolFilter{
		Query: strings.TrimSpace(query.Get("q")),
		Page:  shell.ReadPage(r),
	}
	var tools store.List[connectors.Tool]
	var marks map[string]store.ConnectorMark
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if tools, err = tx.Tools().List(r.Context(), filter); err != nil {
			return err
		}
		marks, err = tx.Connectors().Marks(r.Context(), connectorSlugs(tools.Items))
		return err
	})
	if err != nil {
		return err
	}
	rows := h.ToolViews(r.Context(), tools.Items)
	for i, t := range tools.Items {
		rows[i].Mark = h.NamedMark(t.ConnectorName, t.ConnectorSlug, marks[t.ConnectorSlug])
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Tools(templates.ToolsPage{
		Frame: h.NewFrame(r, templates.NavTools, shell.NewCrumb(i18n.T(r.Context(), "Tools"), "")),
		Heads: shell.NewHeads(r, toolOrder),
		Sort:  query.Get("sort"),
		Query: filter.Query,
		Rows:  rows,
		Count: shell.FormatCount(r.Context(), len(tools.Items), shell.NewPager(r, tools.Next), "%s tool", "%s tools"),
		Pager: shell.NewPager(r, tools.Next),
	}))
}

// connectorSlugs are the connectors of some tools, each once.
func connectorSlugs(tools []connectors.Tool) []string {
	var slugs []string
	for _, t := range tools {
		slugs = append(slugs, t.ConnectorSlug)
	}
	slices.Sort(slugs)
	return slices.Compact(slugs)
}

// toolOrder has the sort keys of tools, with the store's names.
var toolOrder = []shell.Column{{Name: "name"}, {Name: "connector"}, {Name: "changed", Descending: true}}
