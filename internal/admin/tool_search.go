package admin

import (
	"net/http"
	"strings"

	"patchbay/internal/store"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// toolSearch searches the tools of all connectors.
func (h *Handler) toolSearch(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	filter := store.ToolFilter{
		Query: strings.TrimSpace(query.Get("q")),
		Page:  pageOf(r),
	}
	tools, err := h.tenant(r).Tools(r.Context(), filter)
	if err != nil {
		return err
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Tools(templates.ToolsPage{
		Frame: h.frame(r, templates.NavTools, crumb(words.T(r.Context(), "Tools"), "")),
		Heads: heads(r, toolOrder),
		Sort:  query.Get("sort"),
		Query: filter.Query,
		Rows:  h.toolViews(r.Context(), tools.Items),
		Count: countOf(r.Context(), len(tools.Items), pager(r, tools.Next), "%s tool", "%s tools"),
		Pager: pager(r, tools.Next),
	}))
}
