package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/respond"
)

// syncAll queues a sync of every enabled connector.
func (h *Handler) syncAll(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	to := respond.OwnPath(f.text("return_to"), respond.CameFrom(r, "/connectors"))
	queued, err := h.syncer.QueueAll(r.Context(), actor(r).Tenant.ID, connectors.TriggerManual)
	if err != nil {
		return err
	}
	text := "No connector is enabled."
	if queued > 0 {
		text = "Queued a sync of " + plural(queued, "connector") + "."
	}
	return h.respond.Back(w, r, to, respond.Flash{Kind: respond.Notice, Text: text})
}
