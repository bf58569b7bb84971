package accounts

import (
	"net/http"

	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
)

// ownAccountSave stores a secret of the person.
func (h *Handler) ownAccountSave(w http.ResponseWriter, r *http.Request) error {
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
	if err = h.prepareAdded(r, f, of); err == nil {
		err = h.Registry.SetAccount(r.Context(), shell.Actor(r), of, connectorpages.ReadSecrets(f, own.AuthType, ""))
	}
	if err != nil {
		return h.renderOwnError(w, r, own, ownForm{part: place.part, form: f}, err)
	}
	own.Name = of.Name
	return h.redirectToOwnAccount(w, r, own, i18n.T(r.Context(), "Connected “%s”.", own.ConnectorName))
}
