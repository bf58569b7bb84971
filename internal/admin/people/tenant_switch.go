package people

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/respond"
)

// tenantSwitch changes the session's tenant. It leads to the home page unless the form names another, because
// the open page belongs to the other tenant.
func (h *Handler) tenantSwitch(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	if _, err := h.Auth.SwitchTenant(r.Context(), shell.Actor(r), f.Text("tenant")); err != nil {
		return err
	}
	return respond.See(w, r, respond.OwnPath(f.Text("return_to"), "/"))
}
