package admin

import (
	"net/http"

	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// memberRemove ends a membership, effective with the person's next request.
func (h *Handler) memberRemove(w http.ResponseWriter, r *http.Request) error {
	id, err := userID(r)
	if err != nil {
		return err
	}
	if err := h.auth.RemoveMember(r.Context(), actor(r), id); err != nil {
		return h.renderMemberError(w, r, err)
	}
	return h.respond.Back(w, r, "/members", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "The member is removed.")})
}
