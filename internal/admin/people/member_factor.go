package people

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// memberFactorRemove removes the second factor of a member that lost it.
func (h *Handler) memberFactorRemove(w http.ResponseWriter, r *http.Request) error {
	id, err := userID(r)
	if err != nil {
		return err
	}
	if err := h.Auth.RemoveMemberSecondFactor(r.Context(), shell.Actor(r), id); err != nil {
		return h.renderMemberError(w, r, err)
	}
	return h.Respond.Back(w, r, "/members", respond.Flash{
		Kind: respond.Notice, Text: i18n.T(r.Context(), "Second factor removed, member signed out everywhere."),
	})
}
