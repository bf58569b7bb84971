package admin

import (
	"net/http"

	"patchbay/internal/respond"
	"patchbay/internal/words"
)

// connectDisconnect ends an account's access.
func (h *Handler) connectDisconnect(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenant(r).Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	agent, _ := agentOf(r)
	waitLong(w)
	if err := h.connect.Disconnect(r.Context(), actor(r), ref(r, "id"), agent); err != nil {
		return h.connectFailed(w, r, c, err)
	}
	return h.respond.Back(w, r, credentialsPath(c.Slug), respond.Flash{
		Kind: respond.Notice,
		Text: words.T(r.Context(), "Disconnected '%s'.", c.Name),
	})
}
