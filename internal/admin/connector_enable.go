package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
)

// connectorEnable enables or disables a connector.
func (h *Handler) connectorEnable(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	enabled := f.checked("enabled")
	c, _, err := h.registry.UpdateConnector(r.Context(), actor(r), pathRef(r, "id"), manage.Change{
		Draft: func(d *connectors.Draft) { d.Enabled = enabled },
	})
	if err != nil {
		return err
	}
	message := i18n.Key("'%s' is disabled.")
	if enabled {
		message = "'%s' is enabled."
	}
	return h.respond.Back(w, r, connectorPath(c.Slug), respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), message, c.Name),
	})
}
