package people

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// memberSignOut ends all sessions of a member.
func (h *Handler) memberSignOut(w http.ResponseWriter, r *http.Request) error {
	id, err := userID(r)
	if err != nil {
		return err
	}
	if err := h.Auth.SignOutMember(r.Context(), shell.Actor(r), id); err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/members", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Member signed out everywhere.")})
}
