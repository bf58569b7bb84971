package admin

import (
	"net/http"

	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// memberFactorRemove removes the second factor of a member that lost it.
func (h *Handler) memberFactorRemove(w http.ResponseWriter, r *http.Request) error {
	id, err := userID(r)
	if err != nil {
		return err
	}
	if err := h.auth.RemoveMemberSecondFactor(r.Context(), actor(r), id); err != nil {
		return h.renderMemberError(w, r, err)
	}
	return h.respond.Back(w, r, "/members", respond.Flash{
		Kind: respond.Notice, Text: i18n.T(r.Context(), "The second factor is taken away, and the member is signed out everywhere."),
	})
}
