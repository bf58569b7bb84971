package admin

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/words"
	"patchbay/web"
	"patchbay/web/templates"
)

// partHeader is how the palette asks for its options in place of a page.
const partHeader = "Patchbay-Part"

// search finds connectors, agents and tools by name, and on its page also pages and what can be done.
func (h *Handler) search(w http.ResponseWriter, r *http.Request) error {
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	can, verb := abilities(actor(r).Role), ""
	if can.Sync {
		verb = words.T(r.Context(), "Sync")
	}
	list, err := h.tenant(r).Find(r.Context(), q, verb)
	if err != nil {
		return err
	}
	found := foundWays(r.Context(), list, can)
	if startsWith(q, verb) {
		slices.Reverse(found) // "sync linear" means the sync
	}
	if r.Header.Get(partHeader) == "options" {
		return h.respond.Page(w, r, http.StatusOK, templates.FoundOptions(web.Asset, found))
	}
	frame := h.frame(r, templates.NavNone, crumb(words.T(r.Context(), "Search"), ""))
	found = append(found, frame.Matching(r.Context(), q)...)
	n := 0
	for _, kind := range found {
		n += len(kind.List)
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Search(templates.SearchPage{
		Frame: frame, Query: q, Found: found, Count: words.N(r.Context(), n, "%s found", "%s found"),
	}))
}

// startsWith tells whether the first of several words is the beginning of verb.
func startsWith(q, verb string) bool {
	first, _, several := strings.Cut(q, " ")
	return several && strings.HasPrefix(strings.ToLower(verb), strings.ToLower(first))
}

// foundWays leads to what was found, and syncs a connector for whoever may. A kind without any is left out.
func foundWays(ctx context.Context, found []connectors.Found, can templates.Can) []templates.Ways {
	kinds := []templates.Ways{
		{ID: "connectors", Title: words.T(ctx, "Connectors")}, {ID: "agents", Title: words.T(ctx, "Agents")},
		{ID: "tools", Title: words.T(ctx, "Tools")}, {ID: "syncs", Title: words.T(ctx, "Sync")},
	}
	add := func(kind int, way templates.Way) { kinds[kind].List = append(kinds[kind].List, way) }
	for _, f := range found {
		switch f.Kind {
		case connectors.FoundConnector:
			add(0, templates.Way{Icon: "plug", Text: f.Name, Href: connectorPath(f.Slug)})
			if can.Sync {
				add(3, templates.Way{Icon: "refresh-cw", Text: words.T(ctx, "Sync %s", f.Name), Action: connectorPath(f.Slug) + "/sync_tools"})
			}
		case connectors.FoundAgent:
			add(1, templates.Way{Icon: "bot", Text: f.Name, Href: agentPath(f.Slug)})
		case connectors.FoundTool:
			add(2, templates.Way{Icon: "wrench", Text: f.Name, About: f.OfName, Href: toolPath(f.OfSlug, f.Slug)})
		}
	}
	var some []templates.Ways
	for _, kind := range kinds {
		if len(kind.List) > 0 {
			some = append(some, kind)
		}
	}
	return some
}
