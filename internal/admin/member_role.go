package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// memberRole changes a member's role.
func (h *Handler) memberRole(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	id, err := userID(r)
	if err != nil {
		return err
	}
	if err := h.auth.SetMemberRole(r.Context(), actor(r), id, connectors.Role(f.text("role"))); err != nil {
		return h.renderMemberError(w, r, err)
	}
	return h.respond.Back(w, r, "/members", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "The role is changed.")})
}

// renderMemberError shows on the list why a member was not changed, as for the last owner.
func (h *Handler) renderMemberError(w http.ResponseWriter, r *http.Request, err error) error {
	problem, ok := asFormFault(r.Context(), err)
	if !ok {
		return err
	}
	return h.respond.Back(w, r, "/members", respond.Flash{Kind: respond.Alert, Text: problem.Message})
}

func userID(r *http.Request) (connectors.UserID, error) {
	id, ok := pathRef(r, "id").UUID()
	if !ok {
		return connectors.UserID{}, fault.Errorf(fault.NotFound, "There is no such member.")
	}
	return connectors.UserID{UUID: id}, nil
}
