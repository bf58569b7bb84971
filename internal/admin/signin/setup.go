package signin

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

// setupShow is the page of a new installation's setup link: a form for its first owner.
func (h *Handler) setupShow(w http.ResponseWriter, r *http.Request) error {
	token := r.URL.Query().Get("token")
	if _, err := h.Auth.CheckSetup(r.Context(), secret.Text(token)); err != nil {
		return err
	}
	return h.setupForm(w, r, token, shell.PostedForm{}, nil)
}

// setupFinish creates the owner and signs them in.
func (h *Handler) setupFinish(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	token := f.Text("token")
	person := auth.Person{Organisation: f.Text("organisation"), Email: f.Text("email"), Name: f.Text("name"), Password: f.Secret("password")}
	_, err = h.Auth.Setup(r.Context(), secret.Text(token), person, auth.Address(r))
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.setupForm(w, r, token, f, problem)
	}
	if err != nil {
		return err
	}
	// The password is checked as at any sign-in: after too many wrong ones from this address, the right one is
	// refused too.
	user, err := h.Auth.SignIn(r.Context(), person.Email, person.Password, auth.Address(r))
	if err != nil {
		return h.Respond.Back(w, r, "/login", respond.Flash{
			Kind: respond.Notice,
			Text: i18n.T(r.Context(), "Owner set up. Sign in."),
		})
	}
	return h.continueSignIn(w, r, h.Auth.StartSession(r.Context(), user.ID, auth.NewBrowser(r)), "/")
}

func (h *Handler) setupForm(w http.ResponseWriter, r *http.Request, token string, f shell.PostedForm, problem *fault.Error) error {
	tenant, err := h.Auth.CheckSetup(r.Context(), secret.Text(token))
	if err != nil {
		return err
	}
	status := http.StatusOK
	if problem != nil {
		status = respond.Status(problem.Kind)
	}
	return h.Respond.Page(w, r, status, templates.Setup(templates.SetupPage{
		Frame:  h.SignedOutFrame(r, i18n.T(r.Context(), "Set up")),
		Form:   f.ToForm(problem),
		Token:  token,
		Tenant: tenant.Name,
	}))
}
