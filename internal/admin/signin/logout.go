package signin

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/respond"
)

// logout ends the session.
func (h *Handler) logout(w http.ResponseWriter, r *http.Request) error {
	if err := h.Auth.SignOut(r.Context(), shell.Actor(r)); err != nil {
		return err
	}
	return respond.See(w, r, "/login")
}
