package signin

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// confirmShow asks for the password, and leads on.
func (h *Handler) confirmShow(w http.ResponseWriter, r *http.Request) error {
	returnTo := respond.OwnPath(r.URL.Query().Get("return_to"), "/")
	return h.ConfirmPage(w, r, http.StatusOK, newConfirmPage(r, returnTo))
}

// confirmSave checks the password, and leads on.
func (h *Handler) confirmSave(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	returnTo := respond.OwnPath(f.Text("return_to"), "/")
	err = h.Auth.RequireRecentAuth(shell.Actor(r))
	if err != nil && !shell.Actor(r).BySSO {
		err = h.Auth.Reauthenticate(r.Context(), shell.Actor(r), f.Secret(shell.ConfirmPassword), f.Text(shell.ConfirmCode))
	}
	page := newConfirmPage(r, returnTo)
	if shell.IsAsked(r) {
		page.Act, page.Held = f.Text("act"), nil
	}
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		respond.SetRetryAfter(w.Header(), problem)
		page.Form = shell.PostedForm{}.ToForm(problem)
		return h.ConfirmPage(w, r, respond.Status(problem.Kind), page)
	}
	if f := fault.As(err); f != nil && f.Code == auth.CodeReauthenticate {
		return h.ConfirmPage(w, r, http.StatusForbidden, page)
	}
	if err != nil {
		return err
	}
	if shell.IsAsked(r) { // the script sends the form that waits on its page
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return respond.See(w, r, returnTo)
}

func newConfirmPage(r *http.Request, returnTo string) templates.ConfirmPage {
	return templates.ConfirmPage{
		Act: shell.ConfirmAct(r.Context(), returnTo), Action: "/confirm", Held: []templates.HiddenField{{Name: "return_to", Value: returnTo}},
	}
}

// confirmSSO redirects a person with single sign-on to the provider again, with a demand for a new sign-in
// there.
func (h *Handler) confirmSSO(w http.ResponseWriter, r *http.Request) error {
	browser := h.EnsureSSOBrowser(r)
	shell.ClearWriteDeadline(w)
	to, err := h.SSO.Confirm(r.Context(), shell.Actor(r), browser)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.ConfirmPage(w, r, respond.Status(problem.Kind), templates.ConfirmPage{Form: templates.Form{Problem: problem.Message}})
	}
	if err != nil {
		return err
	}
	h.SetSSOCookie(w, browser)
	return h.RedirectToProvider(w, r, to, "/")
}

// confirmedBySSO ends in the tab of the provider. The action waits in the tab where it began.
func (h *Handler) confirmedBySSO(w http.ResponseWriter, r *http.Request, person auth.Actor) error {
	if err := h.Auth.ConfirmBySSO(r.Context(), person); err != nil {
		return err
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Said(templates.SaidPage{
		Frame: h.SignedOutFrame(r, i18n.T(r.Context(), "Confirmed")), Title: i18n.T(r.Context(), "Confirmed"),
		Text: i18n.T(r.Context(), "Close this tab and continue where you started."),
	}))
}

// showUnconfirmed says in that tab why the provider's response is not enough.
func (h *Handler) showUnconfirmed(w http.ResponseWriter, r *http.Request, err error) error {
	f := respond.LocalizedFault(r.Context(), err)
	if f.Kind == fault.Internal {
		return err
	}
	return h.Respond.Page(w, r, respond.Status(f.Kind), templates.Said(templates.SaidPage{
		Frame: h.SignedOutFrame(r, i18n.T(r.Context(), "Not confirmed")), Title: i18n.T(r.Context(), "Not confirmed"), Text: f.Message,
	}))
}
