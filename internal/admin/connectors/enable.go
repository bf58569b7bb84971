package connectors

import (
	"net/http"
	"net/url"
	"strconv"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
)

// connectorEnable enables or disables a connector.
func (h *Handler) connectorEnable(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	enabled := f.Checked("enabled")
	c, _, err := h.Registry.UpdateConnector(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), manage.Change{
		Draft: func(d *connectors.Draft) { d.Enabled = enabled },
	})
	if err != nil {
		return err
	}
	message := i18n.Key("Disabled “%s”.")
	if enabled {
		message = i18n.Key("Enabled “%s”.")
	}
	return h.Respond.Back(w, r, shell.ConnectorPath(c.Slug), respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), message, c.Name),
		Undo: &respond.Undo{Action: shell.ConnectorPath(c.Slug) + "/enabled", Form: url.Values{"enabled": {strconv.FormatBool(!enabled)}}},
	})
}
