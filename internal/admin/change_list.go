package admin

import (
	"context"
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/toolchange"
	"patchbay/web"
	"patchbay/web/templates"
)

// changeList lists tool changes; by default those that wait for a decision.
func (h *Handler) changeList(w http.ResponseWriter, r *http.Request) error {
	query, cursor := readChangeQuery(r.URL.Query()), r.URL.Query().Get("cursor")
	var all store.List[connectors.Connector]
	var changes store.List[connectors.ToolChange]
	err := h.tenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if all, err = tx.Connectors(r.Context(), store.ConnectorFilter{Page: store.Page{Limit: store.MaxLimit}}); err != nil {
			return err
		}
		filter, possible, err := query.toFilter(r.Context(), tx, all.Items)
		if err != nil || !possible {
			return err
		}
		filter.Cursor, filter.Limit = cursor, pageSize(r)
		changes, err = tx.Changes(r.Context(), filter)
		return err
	})
	if err != nil {
		return err
	}
	frame := h.newFrame(r, templates.NavChanges, newCrumb(i18n.T(r.Context(), "Changes"), ""))
	if cursor == "" {
		live := query.urlValues()
		live.Set("on", "changes")
		frame.Listen = withQuery("/events", live)
	}
	page := templates.ChangesPage{
		Frame:      frame,
		Filter:     templates.Form{Values: map[string]string{"connector": query.connector, "state": query.state}},
		List:       h.changeListView(r.Context(), changes, query, frame.Can, newPager(r, changes.Next)),
		Connectors: []templates.Option{{Value: "", Label: i18n.T(r.Context(), "All connectors")}},
		States:     changeStateOptions(r.Context()),
	}
	for _, c := range all.Items {
		page.Connectors = append(page.Connectors, templates.Option{Value: c.Slug, Label: c.Name})
	}
	page.Connectors, page.States = withChosen(page.Connectors, query.connector), withChosen(page.States, query.state)
	return h.respond.Page(w, r, http.StatusOK, templates.Changes(page))
}

// changeListView is the part of the page that the event stream replaces.
func (h *Handler) changeListView(ctx context.Context, changes store.List[connectors.ToolChange], q changeQuery, can templates.Permissions, p templates.Pager) templates.ChangeList {
	view := templates.ChangeList{Asset: web.Asset, Filtered: q.isFiltered(), Decides: can.Manage, Pager: p}
	for _, c := range changes.Items {
		row := changeRow(ctx, c, h.now())
		row.Href = withReturnTo(row.Href, withQuery("/changes", q.urlValues()))
		if q.state == anyChange && c.State == connectors.ChangeWaiting {
			row.Decided = "waits"
		}
		view.Rows = append(view.Rows, row)
		if c.State == connectors.ChangeWaiting && c.Risk == toolchange.None {
			view.Cosmetic++
		}
	}
	view.Count = formatCount(ctx, len(view.Rows), p, "%s change", "%s changes")
	return view
}

// changeAcceptCosmetic accepts all changes that do not affect models.
func (h *Handler) changeAcceptCosmetic(w http.ResponseWriter, r *http.Request) error {
	accepted, err := h.registry.AcceptCosmetic(r.Context(), actor(r))
	if err != nil {
		return err
	}
	text := i18n.N(r.Context(), len(accepted), "Accepted %s cosmetic change.", "Accepted %s cosmetic changes.")
	if len(accepted) == 0 {
		text = i18n.T(r.Context(), "No cosmetic change waits any more.")
	}
	return h.respond.Back(w, r, "/changes", respond.Flash{Kind: respond.Notice, Text: text})
}
