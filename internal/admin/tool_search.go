package admin

import (
	"net/http"
	"strings"

	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// toolSearch searches the tools of all connectors.
func (h *Handler) toolSearch(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	filter := store.ToolFilter{
		Query: strings.TrimSpace(query.Get("q")),
		Page:  readPage(r),
	}
	tools, err := h.tenantStore(r).Tools(r.Context(), filter)
	if err != nil {
		return err
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Tools(templates.ToolsPage{
		Frame: h.newFrame(r, templates.NavTools, newCrumb(i18n.T(r.Context(), "Tools"), "")),
		Heads: newHeads(r, toolOrder),
		Sort:  query.Get("sort"),
		Query: filter.Query,
		Rows:  h.toolViews(r.Context(), tools.Items),
		Count: formatCount(r.Context(), len(tools.Items), newPager(r, tools.Next), "%s tool", "%s tools"),
		Pager: newPager(r, tools.Next),
	}))
}

// toolOrder has the sort keys of tools, with the store's names.
var toolOrder = []column{{name: "name"}, {name: "connector"}, {name: "changed", descending: true}}
