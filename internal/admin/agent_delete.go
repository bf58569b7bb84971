package admin

import (
	"net/http"

	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// agentDelete deletes an agent with its credentials.
func (h *Handler) agentDelete(w http.ResponseWriter, r *http.Request) error {
	a, err := h.tenantStore(r).Agent(r.Context(), pathRef(r, "id"))
	if err != nil {
		return err
	}
	if err := h.registry.DeleteAgent(r.Context(), actor(r), pathRef(r, "id")); err != nil {
		return err
	}
	return h.respond.Back(w, r, "/agents", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "'%s' is deleted.", a.Name)})
}
