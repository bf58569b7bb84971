package people

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// memberAdd adds a member, with a first password if the account is new.
func (h *Handler) memberAdd(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	m, err := h.addMember(r, f)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.membersPage(w, r, respond.Status(problem.Kind), membersPageState{add: f.ToForm(problem)})
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/members", respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "%s is now a member.", m.Email),
	})
}

func (h *Handler) addMember(r *http.Request, f shell.PostedForm) (connectors.Member, error) {
	return h.Auth.AddMember(r.Context(), shell.Actor(r), auth.Person{
		Email:    f.Text("email"),
		Name:     f.Text("name"),
		Password: f.Secret("password"),
		Role:     connectors.Role(f.Text("role")),
	})
}
