package accounts

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// connectDisconnect disconnects an account.
func (h *Handler) connectDisconnect(w http.ResponseWriter, r *http.Request) error {
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	of, _ := readPostedAccount(r, f)
	shell.ClearWriteDeadline(w)
	if err := h.Connect.DisconnectAccount(r.Context(), shell.Actor(r), of.Connector, of.Agent, of.Name); err != nil {
		return h.renderConnectError(w, r, c, err)
	}
	return h.Respond.Back(w, r, shell.CredentialsPath(c.Slug), respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "Disconnected “%s”.", c.Name),
	})
}
