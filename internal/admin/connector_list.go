package admin

import (
	"net/http"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// connectorList lists the connectors, filtered by words and state.
func (h *Handler) connectorList(w http.ResponseWriter, r *http.Request) error {
	filter := readConnectorFilter(r)
	tenant := h.tenant(r)
	stats, err := tenant.ConnectorStats(r.Context())
	if err != nil {
		return err
	}
	list, err := tenant.Connectors(r.Context(), filter)
	if err != nil {
		return err
	}
	soon, err := h.lapsing(r)
	if err != nil {
		return err
	}
	sweep, err := tenant.NewestSweep(r.Context())
	if err != nil {
		return err
	}
	page := templates.ConnectorsPage{
		Frame:    h.frame(r, templates.NavConnectors, crumb(words.T(r.Context(), "Connectors"), "")),
		Stats:    connectorStats(r.Context(), stats),
		Heads:    heads(r, connectorOrder),
		Sort:     r.URL.Query().Get("sort"),
		Query:    filter.Query,
		Status:   string(filter.Status),
		Statuses: statusOptions(r.Context()),
		Filtered: filter.Query != "" || filter.Status != "",
		Count:    countOf(r.Context(), len(list.Items), pager(r, list.Next), "%s connector", "%s connectors"),
		Pager:    pager(r, list.Next),
		Lapsing:  soon,
		Sweep:    sweepView(r.Context(), sweep, h.now()),
	}
	page.Frame.Listen = withQuery("/events", r.URL.Query())
	if !page.Filtered {
		page.Count = words.N(r.Context(), stats.Connectors, "%s connector", "%s connectors")
	}
	for _, c := range list.Items {
		page.Rows = append(page.Rows, connectorRow(r.Context(), c, page.Frame.Can, page.Frame.Path, h.now()))
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Connectors(page))
}

// readConnectorFilter is which connectors a page lists, as its address says.
func readConnectorFilter(r *http.Request) store.ConnectorFilter {
	query := r.URL.Query()
	return store.ConnectorFilter{
		Query:  strings.TrimSpace(query.Get("q")),
		Status: connectors.ConnectorStatus(query.Get("status")),
		Page:   pageOf(r),
	}
}

// tenant is the door to the rows that the request may see.
func (h *Handler) tenant(r *http.Request) *store.Tenant {
	return h.store.Tenant(actor(r).Tenant.ID)
}
