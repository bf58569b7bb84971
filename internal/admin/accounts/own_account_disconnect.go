package accounts

import (
	"net/http"

	"patchbay/internal/admin/shell"
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
	disconnect := h.Registry.DeleteCredential
	if own.AuthType == connectors.AuthOAuth2 {
		shell.ClearWriteDeadline(w)
		disconnect = h.Connect.Disconnect // the server's token is revoked too
	}
	if err := disconnect(r.Context(), shell.Actor(r), connector, agent); err != nil {
		return err
	}
	return h.redirectToOwnAccount(w, r, own, i18n.T(r.Context(), "Disconnected “%s”.", own.ConnectorName))
}
