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
	agent, _ := readPathAgent(r)
	shell.ClearWriteDeadline(w)
	if err := h.Connect.Disconnect(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), agent); err != nil {
		return h.renderConnectError(w, r, c, err)
	}
	return h.Respond.Back(w, r, shell.CredentialsPath(c.Slug), respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "Disconnected “%s”.", c.Name),
	})
}
