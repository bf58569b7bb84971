package people

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// memberRemove ends a membership, effective with the person's next request.
func (h *Handler) memberRemove(w http.ResponseWriter, r *http.Request) error {
	id, err := userID(r)
	if err != nil {
		return err
	}
	if err := h.Auth.RemoveMember(r.Context(), shell.Actor(r), id); err != nil {
		return h.renderMemberError(w, r, err)
	}
	return h.Respond.Back(w, r, "/members", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Member removed.")})
}
