package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
)

// ownAccountDisconnect disconnects the person's account from an agent.
func (h *Handler) ownAccountDisconnect(w http.ResponseWriter, r *http.Request) error {
	own, err := h.findOwnAccount(r)
	if err != nil {
		return err
	}
	connector, agent := accountRefs(own)
	disconnect := h.registry.DeleteCredential
	if own.AuthType == connectors.AuthOAuth2 {
		clearWriteDeadline(w)
		disconnect = h.connect.Disconnect // the server's token is revoked too
	}
	if err := disconnect(r.Context(), actor(r), connector, agent); err != nil {
		return err
	}
	return h.redirectToOwnAccount(w, r, own, i18n.T(r.Context(), "Disconnected '%s'.", own.ConnectorName))
}
