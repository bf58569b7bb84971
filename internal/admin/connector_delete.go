package admin

import (
	"net/http"

	"patchbay/internal/respond"
	"patchbay/internal/words"
)

// connectorDelete deletes a connector with everything that belongs to it.
func (h *Handler) connectorDelete(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenant(r).Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	if err := h.registry.DeleteConnector(r.Context(), actor(r), ref(r, "id")); err != nil {
		return err
	}
	return h.respond.Back(w, r, "/connectors", respond.Flash{
		Kind: respond.Notice,
		Text: words.T(r.Context(), "'%s' is deleted.", c.Name),
	})
}
