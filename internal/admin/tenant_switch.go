package admin

import (
	"net/http"

	"patchbay/internal/respond"
)

// tenantSwitch makes another of the person's tenants the current one. It leads to the start: the page that was open
// belongs to the other tenant.
func (h *Handler) tenantSwitch(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	if _, err := h.auth.SwitchTenant(r.Context(), actor(r), f.text("tenant")); err != nil {
		return err
	}
	return respond.See(w, r, "/")
}
