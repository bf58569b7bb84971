package calls

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// usageReset restarts the figures of the home page from now.
func (h *Handler) usageReset(w http.ResponseWriter, r *http.Request) error {
	if _, err := h.Registry.ResetUsage(r.Context(), shell.Actor(r), h.Now()); err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Usage figures reset.")})
}
