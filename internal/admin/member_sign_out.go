package admin

import (
	"net/http"

	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// memberSignOut ends all sessions of a member.
func (h *Handler) memberSignOut(w http.ResponseWriter, r *http.Request) error {
	id, err := userID(r)
	if err != nil {
		return err
	}
	if err := h.auth.SignOutMember(r.Context(), actor(r), id); err != nil {
		return err
	}
	return h.respond.Back(w, r, "/members", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "The member is signed out everywhere.")})
}
