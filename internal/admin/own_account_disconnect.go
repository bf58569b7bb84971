package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/words"
)

// ownAccountDisconnect ends what an agent may do with the person's account.
func (h *Handler) ownAccountDisconnect(w http.ResponseWriter, r *http.Request) error {
	own, err := h.own(r)
	if err != nil {
		return err
	}
	connector, agent := refsOf(own)
	end := h.registry.DeleteCredential
	if own.AuthType == connectors.AuthOAuth2 {
		waitLong(w)
		end = h.connect.Disconnect // the server has to hear of it, too
	}
	if err := end(r.Context(), actor(r), connector, agent); err != nil {
		return err
	}
	return h.ownBack(w, r, own, words.T(r.Context(), "Disconnected '%s'.", own.ConnectorName))
}
