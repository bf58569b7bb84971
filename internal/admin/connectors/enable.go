package connectors

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/manage"
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
	return h.Respond.Back(w, r, shell.ConnectorPath(c.Slug), shell.EnabledFlash(r.Context(), c.Name, enabled, shell.ConnectorPath(c.Slug)+"/enabled"))
}
