package admin

import (
	"fmt"
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/registry"
	"patchbay/internal/respond"
)

// connectorEnable enables or disables a connector.
func (h *Handler) connectorEnable(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	enabled := f.checked("enabled")
	c, _, err := h.registry.UpdateConnector(r.Context(), actor(r), ref(r, "id"), registry.Change{
		Draft: func(d *connectors.Draft) { d.Enabled = enabled },
	})
	if err != nil {
		return err
	}
	state := "disabled"
	if enabled {
		state = "enabled"
	}
	return h.respond.Back(w, r, connectorPath(c.Slug), respond.Flash{
		Kind: respond.Notice,
		Text: fmt.Sprintf("'%s' is %s.", c.Name, state),
	})
}
