package settings

import (
	"net/http"

	"patchbay/internal/admin/shell"
)

// onlyRenames reports whether the form changes the organization's name at most.
func (h *Handler) onlyRenames(r *http.Request) (bool, error) {
	f, err := shell.ReadForm(r)
	if err != nil {
		return false, err
	}
	t := shell.Actor(r).Tenant
	now := tenantForm(t, h.Auth.HistoryDaysFor(t)).Values
	for name := range f.Values {
		if value, known := now[name]; name != "name" && name != "card" && (!known || f.Text(name) != value) {
			return false, nil
		}
	}
	return true, nil
}
