package connectors

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
)

// syncCancel cancels a queued or running sync, and shows the page with the button.
func (h *Handler) syncCancel(w http.ResponseWriter, r *http.Request) error {
	var d runDetail
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		d, err = findRun(r, tx)
		return err
	})
	if err != nil {
		return err
	}
	to := respond.CameFrom(r, runPath(d.connector.Slug, d.run.ID))
	_, err = h.Syncer.Cancel(r.Context(), shell.Actor(r), d.run.ID)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok { // it has ended
		return h.Respond.Back(w, r, to, respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, to, respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Cancelled the sync of %s. No tools changed.", d.connector.Name)})
}

// runningCancelPath is where the running sync is cancelled; empty: there is none.
func runningCancelPath(c connectors.Connector) string {
	if c.Running == nil {
		return ""
	}
	return runPath(c.Slug, *c.Running) + "/cancel"
}
