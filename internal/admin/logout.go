package admin

import (
	"net/http"

	"patchbay/internal/respond"
)

// logout ends the session.
func (h *Handler) logout(w http.ResponseWriter, r *http.Request) error {
	if err := h.auth.SignOut(r.Context(), actor(r)); err != nil {
		return err
	}
	return respond.See(w, r, "/login")
}
