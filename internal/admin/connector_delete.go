package admin

import (
	"net/http"

	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// connectorDelete deletes a connector with all that belongs to it.
func (h *Handler) connectorDelete(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenantStore(r).Connector(r.Context(), pathRef(r, "id"))
	if err != nil {
		return err
	}
	if err := h.registry.DeleteConnector(r.Context(), actor(r), pathRef(r, "id")); err != nil {
		return err
	}
	return h.respond.Back(w, r, "/connectors", respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "'%s' is deleted.", c.Name),
	})
}
