package people

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// memberRole changes a member's role.
func (h *Handler) memberRole(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	id, err := userID(r)
	if err != nil {
		return err
	}
	if err := h.Auth.SetMemberRole(r.Context(), shell.Actor(r), id, connectors.Role(f.Text("role"))); err != nil {
		return h.renderMemberError(w, r, err)
	}
	return h.Respond.Back(w, r, "/members", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Role changed.")})
}

// renderMemberError shows on the list why a member was not changed, as for the last owner.
func (h *Handler) renderMemberError(w http.ResponseWriter, r *http.Request, err error) error {
	problem, ok := shell.AsFormFault(r.Context(), err)
	if !ok {
		return err
	}
	return h.Respond.Back(w, r, "/members", respond.Flash{Kind: respond.Alert, Text: problem.Message})
}

func userID(r *http.Request) (connectors.UserID, error) {
	id, ok := shell.PathRef(r, "id").UUID()
	if !ok {
		return connectors.UserID{}, fault.Errorf(fault.NotFound, "No such member.")
	}
	return connectors.UserID{UUID: id}, nil
}
