package admin

import (
	"net/http"

	"patchbay/internal/respond"
	"patchbay/internal/words"
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
	return h.respond.Back(w, r, "/agents", respond.Flash{Kind: respond.Notice, Text: words.T(r.Context(), "'%s' is deleted.", a.Name)})
}
