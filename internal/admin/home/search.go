package home

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web"
	"patchbay/web/templates"
)

// fragmentHeader is set by the command palette, which wants its options instead of a page.
const fragmentHeader = "Patchbay-Part"

// searchShow finds connectors, agents and tools by name, and on its page also pages and actions.
func (h *Handler) searchShow(w http.ResponseWriter, r *http.Request) error {
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	can, verb := shell.ToPermissions(shell.Actor(r).Role), ""
	if can.Sync {
		verb = i18n.T(r.Context(), "Sync")
	}
	list, err := h.TenantStore(r).Lists().Find(r.Context(), q, verb)
	if err != nil {
		return err
	}
	found := h.groupResults(r.Context(), list, can, q)
	if startsWith(q, verb) {
		slices.Reverse(found) // "sync linear" puts the sync first
	}
	if r.Header.Get(fragmentHeader) == "options" {
		return h.Respond.Page(w, r, http.StatusOK, templates.FoundOptions(web.Asset, found))
	}
	frame := h.NewFrame(r, templates.NavNone, shell.NewCrumb(i18n.T(r.Context(), "Search"), ""))
	more := slices.ContainsFunc(found, func(g templates.SearchGroup) bool { return len(g.List) > connectors.MaxFound })
	found = append(found, frame.Matching(r.Context(), q)...)
	n := 0
	for _, kind := range found {
		n += len(kind.List)
	}
	count := i18n.N(r.Context(), n, "%s found", "%s found")
	if more {
		count = i18n.T(r.Context(), "The first %s of each kind", i18n.Number(r.Context(), connectors.MaxFound))
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Search(templates.SearchPage{
		Frame: frame, Query: q, Found: found, Count: count,
	}))
}

// startsWith reports whether q has several words, the first of which is a prefix of verb.
func startsWith(q, verb string) bool {
	first, _, several := strings.Cut(q, " ")
	return several && strings.HasPrefix(strings.ToLower(verb), strings.ToLower(first))
}

// groupResults groups the results by kind, the kind with the best match first, with a sync for people that may run one.
// Empty kinds are left out. A kind with more results than are shown ends in a link to its list.
func (h *Handler) groupResults(ctx context.Context, found []connectors.Found, can templates.Permissions, q string) []templates.SearchGroup {
	kinds := []templates.SearchGroup{
		{ID: "connectors", Title: i18n.T(ctx, "Connectors")}, {ID: "agents", Title: i18n.T(ctx, "Agents")},
		{ID: "tools", Title: i18n.T(ctx, "Tools")}, {ID: "syncs", Title: i18n.T(ctx, "Sync")},
	}
	lists := []string{"/connectors", "/agents", "/tools"}
	best := map[string]int{"syncs": 9}
	add := func(kind int, way templates.SearchResult) {
		group := &kinds[kind]
		switch n := len(group.List); {
		case n < connectors.MaxFound:
			group.List = append(group.List, way)
		case n == connectors.MaxFound && kind < len(lists):
			group.List = append(group.List, templates.SearchResult{More: true, Icon: "search", Text: i18n.T(ctx, "Show all"), About: group.Title, Href: lists[kind] + "?" + url.Values{"q": {q}}.Encode()})
		}
	}
	for _, f := range found {
		if id := string(f.Kind) + "s"; best[id] == 0 {
			best[id] = f.Rank + 1
		}
		mark := h.NamedMark(cmp.Or(f.OfName, f.Name), cmp.Or(f.OfSlug, f.Slug), store.ConnectorMark{URL: f.URL, IconHash: f.IconHash})
		switch f.Kind {
		case connectors.FoundConnector:
			add(0, templates.SearchResult{Mark: &mark, Text: f.Name, Href: shell.ConnectorPath(f.Slug)})
			if can.Sync {
				add(3, templates.SearchResult{Icon: "refresh-cw", Text: i18n.T(ctx, "Sync %s", f.Name), Action: shell.ConnectorPath(f.Slug) + "/sync_tools"})
			}
		case connectors.FoundAgent:
			add(1, templates.SearchResult{Icon: "bot", Text: f.Name, Href: shell.AgentPath(f.Slug)})
		case connectors.FoundTool:
			add(2, templates.SearchResult{Mark: &mark, Text: f.Name, About: f.OfName, Href: shell.ToolPath(f.OfSlug, f.Slug)})
		}
	}
	var nonEmpty []templates.SearchGroup
	for _, kind := range kinds {
		if len(kind.List) > 0 {
			nonEmpty = append(nonEmpty, kind)
		}
	}
	slices.SortStableFunc(nonEmpty, func(a, b templates.SearchGroup) int { return cmp.Compare(best[a.ID], best[b.ID]) })
	return nonEmpty
}
