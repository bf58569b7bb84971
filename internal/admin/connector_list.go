package admin

import (
	"net/http"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// connectorList lists the connectors, filtered by words and state.
func (h *Handler) connectorList(w http.ResponseWriter, r *http.Request) error {
	filter := readConnectorFilter(r)
	var (
		stats    store.Stats
		list     store.List[connectors.Connector]
		expiring []store.ExpiringCredential
		sweep    connectors.BulkSync
	)
	err := h.tenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if stats, err = tx.ConnectorStats(r.Context()); err != nil {
			return err
		}
		if list, err = tx.Connectors(r.Context(), filter); err != nil {
			return err
		}
		if expiring, err = tx.ExpiringCredentials(r.Context(), expiryHorizon, maxExpiring); err != nil {
			return err
		}
		sweep, err = tx.NewestSweep(r.Context())
		return err
	})
	if err != nil {
		return err
	}
	page := templates.ConnectorsPage{
		Frame:    h.newFrame(r, templates.NavConnectors, newCrumb(i18n.T(r.Context(), "Connectors"), "")),
		Stats:    connectorStats(r.Context(), stats),
		Heads:    newHeads(r, connectorOrder),
		Sort:     r.URL.Query().Get("sort"),
		Query:    filter.Query,
		Status:   string(filter.Status),
		Statuses: statusOptions(r.Context()),
		Filtered: filter.Query != "" || filter.Status != "",
		Count:    formatCount(r.Context(), len(list.Items), newPager(r, list.Next), "%s connector", "%s connectors"),
		Pager:    newPager(r, list.Next),
		Expiring: expiringAccountsView(r.Context(), expiring, h.now()),
		Sweep:    sweepView(r.Context(), sweep, h.now()),
	}
	page.Frame.Listen = withQuery("/events", r.URL.Query())
	if !page.Filtered {
		page.Count = i18n.N(r.Context(), stats.Connectors, "%s connector", "%s connectors")
	}
	for _, c := range list.Items {
		page.Rows = append(page.Rows, connectorRow(r.Context(), c, page.Frame.Can, page.Frame.Path, h.now()))
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Connectors(page))
}

func readConnectorFilter(r *http.Request) store.ConnectorFilter {
	query := r.URL.Query()
	return store.ConnectorFilter{
		Query:  strings.TrimSpace(query.Get("q")),
		Status: connectors.ConnectorStatus(query.Get("status")),
		Page:   readPage(r),
	}
}

// tenantStore is the store of the request's tenant.
func (h *Handler) tenantStore(r *http.Request) *store.Tenant {
	return h.store.Tenant(actor(r).Tenant.ID)
}

// connectorOrder has the sort keys of connectors, with the store's names.
var connectorOrder = []column{{name: "name"}, {name: "status"}, {name: "tools", descending: true}, {name: "synced", descending: true}}
