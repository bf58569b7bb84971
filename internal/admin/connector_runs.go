package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// connectorRuns lists a connector's sync runs, newest first.
func (h *Handler) connectorRuns(w http.ResponseWriter, r *http.Request) error {
	var (
		c      connectors.Connector
		runs   store.List[connectors.SyncRun]
		agents map[connectors.AgentID]string
	)
	err := h.tenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if c, err = tx.Connector(r.Context(), pathRef(r, "id")); err != nil {
			return err
		}
		if runs, err = tx.SyncRuns(r.Context(), c.ID, readPage(r)); err != nil {
			return err
		}
		agents, err = agentNames(r.Context(), tx)
		return err
	})
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
