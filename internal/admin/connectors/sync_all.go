package connectors

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// syncAll queues a sync of every enabled connector.
func (h *Handler) syncAll(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	to := respond.OwnPath(f.Text("return_to"), respond.CameFrom(r, "/connectors"))
	a := shell.Actor(r)
	queued, err := h.Syncer.QueueAll(r.Context(), a.Tenant.ID, connectors.TriggerManual, new(a.Event("connector.sync_all", a.Tenant.Slug)))
	if err != nil {
		return err
	}
	text := i18n.T(r.Context(), "No connectors enabled.")
	if queued > 0 {
		text = i18n.N(r.Context(), queued, "Syncing %s connector.", "Syncing %s connectors.")
	}
	return h.Respond.Back(w, r, to, respond.Flash{Kind: respond.Notice, Text: text})
}
