package admin

import (
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// memberAdd adds a member, with a first password if the account is new.
func (h *Handler) memberAdd(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	m, err := h.addMember(r, f)
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.membersPage(w, r, respond.Status(problem.Kind), membersPageState{add: f.toForm(problem), adding: true})
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, "/members", respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "%s is a member now.", m.Email),
	})
}

func (h *Handler) addMember(r *http.Request, f postedForm) (connectors.Member, error) {
	if err := f.checkSecretsRetyped(r.Context()); err != nil {
		return connectors.Member{}, err
	}
	return h.auth.AddMember(r.Context(), actor(r), auth.Person{
		Email:    f.text("email"),
		Name:     f.text("name"),
		Password: f.secret("password"),
		Role:     connectors.Role(f.text("role")),
	})
}
