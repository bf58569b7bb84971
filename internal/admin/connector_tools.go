package admin

import (
	"net/http"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// connectorTools lists the tools of one connector, and what of its list is no tool.
func (h *Handler) connectorTools(w http.ResponseWriter, r *http.Request) error {
	tenant, query := h.tenant(r), r.URL.Query()
	c, err := tenant.Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	filter := store.ToolFilter{
		Connector: &c.ID,
		Query:     strings.TrimSpace(query.Get("q")),
		Removed:   query.Get("removed") == "true",
		Page:      store.Page{Cursor: query.Get("cursor")},
	}
	tools, err := tenant.Tools(r.Context(), filter)
	if err != nil {
		return err
	}
	quarantined, err := tenant.Quarantined(r.Context(), c.ID, store.Page{})
	if err != nil {
		return err
	}
	page := templates.ConnectorToolsPage{
		Frame:   h.connectorFrame(r, c, "Tools"),
		Head:    connectorHead(c, templates.TabTools),
		Query:   filter.Query,
		Removed: filter.Removed,
		Count:   countOf(len(tools.Items), pager(r, tools.Next), "tool"),
		Pager:   pager(r, tools.Next),
		Synced:  c.ToolsLastSyncedAt != nil,
	}
	page.Old = oldTools(c, h.now())
	page.Rows = h.toolViews(tools.Items)
	for _, q := range quarantined.Items {
		page.Quarantined = append(page.Quarantined, quarantinedTool(q))
	}
	return h.respond.Page(w, r, http.StatusOK, templates.ConnectorTools(page))
}

func (h *Handler) toolViews(tools []connectors.Tool) []templates.ToolView {
	views := make([]templates.ToolView, len(tools))
	for i, t := range tools {
		views[i] = toolView(t, inList, h.now())
	}
	return views
}
