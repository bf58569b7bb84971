package accounts

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// credentialDelete deletes a connector's secret, or an agent's for it.
func (h *Handler) credentialDelete(w http.ResponseWriter, r *http.Request) error {
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	if c.Auth.Type == connectors.AuthOAuth2 {
		return h.connectDisconnect(w, r) // the server's token is revoked too
	}
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	of, _ := readPostedAccount(r, f)
	if err := h.Registry.DeleteAccount(r.Context(), shell.Actor(r), of); err != nil {
		return err
	}
	return h.Respond.Back(w, r, shell.CredentialsPath(c.Slug), respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "Credential deleted."),
	})
}
