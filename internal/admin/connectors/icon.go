package connectors

import (
	"net/http"
	"strconv"

	"patchbay/internal/admin/shell"
)

// iconPolicy keeps a picture from running anything, whatever type a browser takes it for.
const iconPolicy = "default-src 'none'; sandbox"

// connectorIcon serves the icon of a connector's server. Its address changes with the icon, so that browsers keep it.
func (h *Handler) connectorIcon(w http.ResponseWriter, r *http.Request) error {
	tenant := h.TenantStore(r)
	c, err := tenant.Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	icon, err := tenant.Connectors().Icon(r.Context(), c.ID)
	if err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", icon.MediaType)
	header.Set("Content-Length", strconv.Itoa(len(icon.Picture)))
	header.Set("Content-Security-Policy", iconPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Content-Disposition", "inline")
	header.Set("Cache-Control", "private, max-age=86400")
	_, _ = w.Write(icon.Picture) // a write error means that the browser is gone
	return nil
}
