package admin

import (
	"net/http"

	"patchbay/internal/respond"
)

// credentialDelete forgets a connector's secret, or an agent's for it.
func (h *Handler) credentialDelete(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenant(r).Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	agent, _ := agentOf(r)
	if err := h.registry.DeleteCredential(r.Context(), actor(r), ref(r, "id"), agent); err != nil {
		return err
	}
	return h.respond.Back(w, r, connectorPath(c.Slug)+"/credentials", respond.Flash{
		Kind: respond.Notice,
		Text: "The credential is deleted.",
	})
}
