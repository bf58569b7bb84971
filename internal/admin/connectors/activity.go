package connectors

import (
	"net/http"
	"net/url"

	callpages "patchbay/internal/admin/calls"
	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// connectorCalls lists the calls of a connector's tools, newest first.
func (h *Handler) connectorCalls(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var (
		c       connectors.Connector
		listing callpages.Listing
	)
	query := callpages.ReadCallQuery(r.URL.Query())
	err := h.TenantStore(r).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if c, err = tx.Connectors().Get(ctx, shell.PathRef(r, "id")); err != nil {
			return err
		}
		listing, err = callpages.ReadListing(r, h.Shell, tx, query.Of(c), h.Calls.CallsIn)
		return err
	})
	if err != nil {
		return err
	}
	page := templates.ConnectorCallsPage{
		Frame: h.ConnectorFrame(r, c, i18n.T(ctx, "Calls")),
		Head:  ConnectorHead(ctx, c, templates.TabCalls, h.ConnectorMark(c)),
	}
	page.Filter, page.Ranges, page.Statuses = query.ToForm(), callpages.RangeOptions(ctx), callpages.StatusOptions(ctx)
	page.List = callpages.ListView(ctx, listing, query, page.Frame.Can, h.Now())
	page.List.Home = page.Head.Href + "/calls"
	page.AllHref = shell.WithQuery("/calls", url.Values{"connector": {c.Slug}})
	return h.Respond.Page(w, r, http.StatusOK, templates.ConnectorCalls(page))
}

// connectorChanges lists the changes of a connector's tools, newest first.
func (h *Handler) connectorChanges(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var (
		c       connectors.Connector
		changes toolpages.MarkedChanges
	)
	err := h.TenantStore(r).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if c, err = tx.Connectors().Get(ctx, shell.PathRef(r, "id")); err != nil {
			return err
		}
		changes, err = toolpages.ReadChanges(ctx, h.Shell, tx, store.ChangeFilter{Connector: &c.ID, Page: shell.ReadPage(r)})
		return err
	})
	if err != nil {
		return err
	}
	query := toolpages.ReadChangeQuery(url.Values{"connector": {c.Slug}, "state": {"all"}})
	page := templates.ConnectorChangesPage{
		Frame: h.ConnectorFrame(r, c, i18n.T(ctx, "Changes")),
		Head:  ConnectorHead(ctx, c, templates.TabChanges, h.ConnectorMark(c)),
	}
	page.List = h.ToolPages.ChangeListView(ctx, changes, query, page.Frame.Can, shell.NewPager(r, changes.Next, len(changes.Items)))
	return h.Respond.Page(w, r, http.StatusOK, templates.ConnectorChanges(page))
}
