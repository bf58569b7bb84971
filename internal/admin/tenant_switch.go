package admin

import (
	"net/http"

	"patchbay/internal/respond"
)

// tenantSwitch changes the session's tenant. It leads to the home page, because the open page belongs to the
// other tenant.
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
