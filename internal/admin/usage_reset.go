package admin

import (
	"net/http"

	"patchbay/internal/respond"
	"patchbay/internal/words"
)

// usageReset restarts the figures of the home page from now.
func (h *Handler) usageReset(w http.ResponseWriter, r *http.Request) error {
	if _, err := h.registry.ResetUsage(r.Context(), actor(r), h.now()); err != nil {
		return err
	}
	return h.respond.Back(w, r, "/", respond.Flash{Kind: respond.Notice, Text: words.T(r.Context(), "Usage is counted from now on.")})
}
