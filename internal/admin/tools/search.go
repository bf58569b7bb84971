package tools

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/fault"
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
	filter, _ := ToolQuery(r, nil)
	filter.Query = strings.TrimSpace(filter.Query)
	var possible bool
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		possible, err = filterConnector(r, tx.Connectors(), &filter)
		return err
	})
	if err != nil {
		return err
	}
	if !possible {
		return shell.TableFile[connectors.Tool]{Name: "tools", Columns: toolColumns, List: shell.EmptyList[connectors.Tool]}.Serve(h.Shell, w, r)
	}
	return h.toolsFile(w, r, filter)
}

func (h *Handler) connectorToolFile(w http.ResponseWriter, r *http.Request) error {
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	filter, _ := ToolQuery(r, &c.ID)
	return h.toolsFile(w, r, filter)
}

func (h *Handler) toolsFile(w http.ResponseWriter, r *http.Request, filter store.ToolFilter) error {
	return shell.TableFile[connectors.Tool]{Name: "tools", Columns: toolColumns, List: func(ctx context.Context, p store.Page) (store.List[connectors.Tool], error) {
		filter.Page = p
		return h.TenantStore(r).Tools().List(ctx, filter)
	}}.Serve(h.Shell, w, r)
}

// filterConnector reads the connector of the filter; possible is false if it does not exist.
func filterConnector(r *http.Request, known store.Connectors, f *store.ToolFilter) (possible bool, err error) {
	slug := r.URL.Query().Get("connector")
	if slug == "" {
		return true, nil
	}
	c, err := known.Get(r.Context(), connectors.Ref(slug))
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	f.Connector = &c.ID
	return err == nil, err
}

// toolSearch searches the tools of all connectors.
func (h *Handler) toolSearch(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	filter, form := ToolQuery(r, nil)
	form.Values["connector"] = query.Get("connector")
	filter.Query = strings.TrimSpace(filter.Query)
	var tools store.List[connectors.Tool]
	var marks shell.Marks
	var named []store.ConnectorName
	total := 0
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if named, err = tx.Connectors().Names(r.Context()); err != nil {
			return err
		}
		possible, err := filterConnector(r, tx.Connectors(), &filter)
		if err != nil || !possible {
			return err
		}
		if tools, err = tx.Tools().List(r.Context(), filter); err != nil {
			return err
		}
		if filter.Query == "" { // the search itself is the larger part of such a page
			if total, err = tx.Tools().Count(r.Context(), filter); err != nil {
				return err
			}
		}
		marks, err = shell.ReadMarks(r.Context(), h.Shell, tx, tools.Items, func(t connectors.Tool) string { return t.ConnectorSlug })
		return err
	})
	if err != nil {
		return err
	}
	rows := h.ToolViews(r.Context(), tools.Items)
	for i, t := range tools.Items {
		rows[i].Href = shell.WithQuery(rows[i].Href, url.Values{"from": {"tools"}})
		rows[i].Mark = marks.Mark(t.ConnectorName, t.ConnectorSlug)
	}
	pager := shell.WithTotal(shell.NewPager(r, tools.Next, len(tools.Items)), total)
	page := templates.ToolsPage{
		Frame:    h.NewFrame(r, templates.NavTools, shell.NewCrumb(i18n.T(r.Context(), "Tools"), "")),
		Heads:    shell.NewHeads(r, toolOrder),
		Sort:     query.Get("sort"),
		Filter:   form,
		Filtered: filter.Query != "" || filter.State != "" || filter.Hint != "" || form.Value("connector") != "",
		States:   shell.WithChosen(StateOptions(r.Context()), form.Value("state")),
		Hints:    shell.WithChosen(HintOptions(r.Context()), form.Value("annotation")),
		Rows:     rows,
		Count:    shell.FormatCount(r.Context(), len(tools.Items), pager, "%s tool", "%s tools"),
		Pager:    pager,
	}
	page.Connectors = []templates.Option{{Value: "", Label: i18n.T(r.Context(), "All connectors")}}
	for _, c := range named {
		page.Connectors = append(page.Connectors, templates.Option{Value: c.Slug, Label: c.Name})
	}
	page.Connectors = shell.WithChosen(page.Connectors, form.Value("connector"))
	return h.Respond.Page(w, r, http.StatusOK, templates.Tools(page))
}

// toolOrder has the sort keys of tools, with the store's names.
var toolOrder = []shell.Column{{Name: "name"}, {Name: "connector"}, {Name: "changed", Descending: true}}
