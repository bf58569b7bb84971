package connectors

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// connectorDelete deletes a connector with all that belongs to it.
func (h *Handler) connectorDelete(w http.ResponseWriter, r *http.Request) error {
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	if err := h.Registry.DeleteConnector(r.Context(), shell.Actor(r), shell.PathRef(r, "id")); err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/connectors", respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "Deleted “%s”.", c.Name),
	})
}
