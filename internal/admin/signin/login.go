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

// loginShow shows the sign-in page. A signed-in person goes on.
func (h *Handler) loginShow(w http.ResponseWriter, r *http.Request) error {
	returnTo := respond.OwnPath(r.URL.Query().Get("return_to"), "/")
	if _, err := h.Auth.FromSessionBeforeEnrolment(r.Context()); err == nil {
		return respond.See(w, r, returnTo)
	}
	frame := h.SignedOutFrame(r, i18n.T(r.Context(), "Sign in"))
	if unsent := r.URL.Query().Get("unsent"); unsent != "" && frame.Flash == nil {
		text := i18n.T(r.Context(), "You were signed out; nothing changed. Sign in and resend.")
		if unsent == "kept" {
			text = i18n.T(r.Context(), "You were signed out; nothing changed. Sign in within 15 minutes to send your form.")
		}
		frame.Flash = &templates.Flash{Kind: templates.FlashAlert, Text: text}
	}
	return h.renderSignIn(w, r, http.StatusOK, templates.SignInPage{Frame: frame, ReturnTo: returnTo})
}

// renderSignIn shows the sign-in page with the ways that the installation has.
func (h *Handler) renderSignIn(w http.ResponseWriter, r *http.Request, status int, page templates.SignInPage) error {
	ways, err := h.Auth.SignInWays(r.Context())
	if err != nil {
		return err
	}
	page.SSO, page.Fresh, page.Mails = ways.SSO, !ways.Owned, h.Mailing.Enabled()
	return h.Respond.Page(w, r, status, templates.SignIn(page))
}

// loginFinish checks a password and starts the session.
func (h *Handler) loginFinish(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	returnTo := respond.OwnPath(f.Text("return_to"), "/")
	user, err := h.Auth.SignIn(r.Context(), f.Text("email"), f.Secret("password"), auth.Address(r))
	if err == nil {
		browser := auth.NewBrowser(r)
		browser.PasswordSetAt = user.PasswordSetAt
		err = h.Auth.StartSession(r.Context(), user.ID, browser)
	}
	if f := fault.As(err); err == nil || f != nil && f.Type == auth.TypeCodeWanted {
		return h.continueSignIn(w, r, err, returnTo)
	}
	refused := respond.LocalizedFault(r.Context(), err)
	switch refused.Kind {
	case fault.Unauthenticated, fault.RateLimited, fault.Denied, fault.Unavailable:
		return h.signInPage(w, r, f.ToForm(refused), refused, returnTo)
	default:
		return err
	}
}
