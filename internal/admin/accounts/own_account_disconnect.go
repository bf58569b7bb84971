package accounts

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
)

// ownAccountDisconnect disconnects the person's account from an agent.
func (h *Handler) ownAccountDisconnect(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	of, place := readPostedAccount(r, f)
	own, err := h.findOwnAccount(r, place.account)
	if err != nil {
		return err
	}
	of = ownRef(own, of.Name)
	if own.AuthType == connectors.AuthOAuth2 { // the server's token is revoked too
		shell.ClearWriteDeadline(w)
		err = h.Connect.DisconnectAccount(r.Context(), shell.Actor(r), of.Connector, of.Agent, of.Name)
	} else {
		err = h.Registry.DeleteAccount(r.Context(), shell.Actor(r), of)
	}
	if err != nil {
		return err
	}
	own.Name = ""
	return h.redirectToOwnAccount(w, r, own, i18n.T(r.Context(), "Disconnected “%s”.", own.ConnectorName))
}
