package tools

import (
	"context"
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/toolchange"
	"patchbay/web"
	"patchbay/web/templates"
)

// changeList lists tool changes; by default those that wait for a decision.
func (h *Handler) changeList(w http.ResponseWriter, r *http.Request) error {
	query, cursor := ReadChangeQuery(r.URL.Query()), r.URL.Query().Get("cursor")
	var known store.List[connectors.Connector]
	var changes MarkedChanges
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if known, err = tx.Connectors().List(r.Context(), store.ConnectorFilter{Page: store.Page{Limit: store.MaxLimit}}); err != nil {
			return err
		}
		filter, possible, err := query.ToFilter(r.Context(), tx.Connectors(), known.Items)
		if err != nil || !possible {
			return err
		}
		filter.Cursor, filter.Limit = cursor, shell.PageSize(r)
		changes, err = ReadChanges(r.Context(), h.Shell, tx, filter)
		return err
	})
	if err != nil {
		return err
	}
	frame := h.NewFrame(r, templates.NavChanges, shell.NewCrumb(i18n.T(r.Context(), "Changes"), ""))
	all := r.URL.Query().Get("choose") == "all"
	if cursor == "" && !all { // an update would clear the selection
		live := query.URLValues()
		live.Set("on", "changes")
		frame.Listen = shell.WithQuery("/events", live)
	}
	page := templates.ChangesPage{
		Frame:      frame,
		Filter:     templates.Form{Values: map[string]string{"connector": query.connector, "state": query.state}},
		List:       h.ChangeListView(r.Context(), changes, query, frame.Can, shell.NewPager(r, changes.Next, len(changes.Items))),
		Connectors: []templates.Option{{Value: "", Label: i18n.T(r.Context(), "All connectors")}},
		States:     changeStateOptions(r.Context()),
	}
	if all {
		checkAll(&page.List)
	}
	for _, c := range known.Items {
		page.Connectors = append(page.Connectors, templates.Option{Value: c.Slug, Label: c.Name})
	}
	page.Connectors, page.States = shell.WithChosen(page.Connectors, query.connector), shell.WithChosen(page.States, query.state)
	return h.Respond.Page(w, r, http.StatusOK, templates.Changes(page))
}

// MarkedChanges are changes of a list with the marks of their connectors.
type MarkedChanges struct {
	store.List[connectors.ToolChange]
	Total int // of all pages, up to one more than store.MaxTotal
	marks shell.Marks
}

// ReadChanges reads a page of changes.
func ReadChanges(ctx context.Context, h *shell.Shell, tx *store.Tenant, f store.ChangeFilter) (MarkedChanges, error) {
	list, err := tx.Tools().Changes(ctx, f)
	if err != nil {
		return MarkedChanges{}, err
	}
	total, err := tx.Lists().Changes(ctx, f)
	if err != nil {
		return MarkedChanges{}, err
	}
	marks, err := shell.ReadMarks(ctx, h, tx, list.Items, func(c connectors.ToolChange) string { return c.ConnectorSlug })
	return MarkedChanges{list, total, marks}, err
}

// ChangeListView is the part of the page that the event stream replaces.
func (h *Handler) ChangeListView(ctx context.Context, changes MarkedChanges, q ChangeQuery, can templates.Permissions, p templates.Pager) templates.ChangeList {
	p = shell.WithBoundedTotal(p, changes.Total)
	view := templates.ChangeList{Asset: web.Asset, Filtered: q.IsFiltered(), Decides: can.Manage, Pager: p}
	for _, c := range changes.Items {
		row := changeRow(ctx, c, h.Now())
		row.Mark = changes.marks.Mark(c.ConnectorName, c.ConnectorSlug)
		row.Href = withReturnTo(row.Href, shell.WithQuery("/changes", q.URLValues()))
		if q.state == anyChange && c.State == connectors.ChangeWaiting {
			row.Decided = i18n.T(ctx, "waiting")
		}
		if can.Manage {
			row.Verdict = verdictValue(c)
		}
		if row.Verdict != "" {
			if view.Bulk == nil {
				view.Bulk = changeBulk(q)
			}
			view.Bulk.Risky = view.Bulk.Risky || c.Risk == toolchange.High
		}
		view.Rows = append(view.Rows, row)
		if c.State == connectors.ChangeWaiting && c.Risk == toolchange.None {
			view.Cosmetic++
		}
	}
	view.Count = shell.FormatCount(ctx, len(view.Rows), p, "%s change", "%s changes")
	return view
}

// changeBulk is the bar below a list with changes that wait.
func changeBulk(q ChangeQuery) *templates.ChangeBulk {
	query := q.URLValues()
	b := &templates.ChangeBulk{ReturnTo: shell.WithQuery("/changes", query)}
	query.Set("choose", "all")
	b.AllHref = shell.WithQuery("/changes", query)
	return b
}

// checkAll checks all changes of a list that wait.
func checkAll(list *templates.ChangeList) {
	if list.Bulk == nil {
		return
	}
	list.Bulk.All, list.Bulk.AllHref = true, list.Bulk.ReturnTo
	for i := range list.Rows {
		list.Rows[i].Chosen = list.Rows[i].Verdict != ""
	}
}

// changeAcceptCosmetic accepts all changes that do not affect models.
func (h *Handler) changeAcceptCosmetic(w http.ResponseWriter, r *http.Request) error {
	accepted, err := h.Registry.AcceptCosmetic(r.Context(), shell.Actor(r))
	if err != nil {
		return err
	}
	text := i18n.N(r.Context(), len(accepted), "Accepted %s cosmetic change.", "Accepted %s cosmetic changes.")
	if len(accepted) == 0 {
		text = i18n.T(r.Context(), "No cosmetic changes left.")
	}
	return h.Respond.Back(w, r, "/changes", respond.Flash{Kind: respond.Notice, Text: text})
}

var changeColumns = []export.Column[connectors.ToolChange]{
	{Name: "id", Of: func(c connectors.ToolChange) any { return c.ID.String() }},
	{Name: "seen_at", Of: func(c connectors.ToolChange) any { return c.SeenAt }},
	{Name: "connector", Of: func(c connectors.ToolChange) any { return c.ConnectorSlug }},
	{Name: "tool", Of: func(c connectors.ToolChange) any { return c.Tool }},
	{Name: "kinds", Of: func(c connectors.ToolChange) any {
		kinds := make([]string, len(c.Kinds))
		for i, k := range c.Kinds {
			kinds[i] = string(k)
		}
		return kinds
	}},
	{Name: "risk", Of: func(c connectors.ToolChange) any { return c.Risk }},
	{Name: "state", Of: func(c connectors.ToolChange) any { return c.State }},
	{Name: "decided_by", Of: func(c connectors.ToolChange) any { return c.DecidedBy }},
	{Name: "decided_at", Of: func(c connectors.ToolChange) any { return c.DecidedAt }},
	{Name: "agents", Of: func(c connectors.ToolChange) any { return c.Agents }},
	{Name: "calls", Of: func(c connectors.ToolChange) any { return c.Calls }},
}

func (h *Handler) changeFile(w http.ResponseWriter, r *http.Request) error {
	tenant := h.TenantStore(r)
	filter, possible, err := ReadChangeQuery(r.URL.Query()).ToFilter(r.Context(), tenant.Connectors(), nil)
	if err != nil {
		return err
	}
	list := func(ctx context.Context, p store.Page) (store.List[connectors.ToolChange], error) {
		filter.Page = p
		return tenant.Tools().Changes(ctx, filter)
	}
	if !possible {
		list = shell.EmptyList[connectors.ToolChange]
	}
	return shell.TableFile[connectors.ToolChange]{Name: "changes", Columns: changeColumns, List: list}.Serve(h.Shell, w, r)
}
