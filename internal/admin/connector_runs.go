package admin

import (
	"net/http"

	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// connectorRuns lists a connector's sync runs, newest first.
func (h *Handler) connectorRuns(w http.ResponseWriter, r *http.Request) error {
	tenant := h.tenantStore(r)
	c, err := tenant.Connector(r.Context(), pathRef(r, "id"))
	if err != nil {
		return err
	}
	runs, err := tenant.SyncRuns(r.Context(), c.ID, readPage(r))
	if err != nil {
		return err
	}
	agents, err := h.agentNames(r)
	if err != nil {
		return err
	}
	page := templates.ConnectorRunsPage{
		Frame: h.connectorFrame(r, c, i18n.T(r.Context(), "Sync runs")),
		Head:  connectorHead(r.Context(), c, templates.TabRuns),
		Pager: newPager(r, runs.Next),
	}
	for _, run := range runs.Items {
		page.Rows = append(page.Rows, syncRunRow(r.Context(), run, c.Slug, agents, h.now()))
	}
	return h.respond.Page(w, r, http.StatusOK, templates.ConnectorRuns(page))
}
