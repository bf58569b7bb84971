package accounts

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
)

// accountRename gives an account another name, also in the grants that use it.
func (h *Handler) accountRename(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	of, place := readPostedAccount(r, f)
	place.part = renamePart
	if err := h.renameAccount(r, of, f.Text("name")); err != nil {
		return h.renderAccountError(w, r, place, f, "name", err)
	}
	return h.Respond.Back(w, r, shell.CredentialsPath(c.Slug), respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Account renamed.")})
}

// accountSyncs makes syncs of the connector use an account.
func (h *Handler) accountSyncs(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	of, _ := readPostedAccount(r, f)
	if err := h.Registry.ChangeAccount(r.Context(), shell.Actor(r), of, manage.AccountChange{Syncs: true}); err != nil {
		return h.renderConnectError(w, r, c, err)
	}
	return h.Respond.Back(w, r, shell.CredentialsPath(c.Slug), respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Syncs of “%s” use this account.", c.Name)})
}
