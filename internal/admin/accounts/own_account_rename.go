package accounts

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
)

// ownAccountRename gives one of the person's accounts another name, also in the grant that uses it.
func (h *Handler) ownAccountRename(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	own, err := h.findOwnAccount(r, f.Text("account"))
	if err != nil {
		return err
	}
	if err := h.renameAccount(r, ownRef(own, own.Name), f.Text("name")); err != nil {
		return h.renderOwnError(w, r, own, ownForm{part: renamePart, form: f}, atField(err, "name", "name"))
	}
	own.Name = f.Text("name")
	return h.redirectToOwnAccount(w, r, own, i18n.T(r.Context(), "Account renamed."))
}
