package signin

import (
	"context"
	"net/http"
	"net/netip"
	"strings"

	chimiddleware "github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
	"patchbay/internal/sso"
	"patchbay/web/templates"
)

// loginSSO redirects a person to the provider of their e-mail domain's organisation.
func (h *Handler) loginSSO(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	returnTo, browser := respond.OwnPath(f.Text("return_to"), "/"), h.EnsureSSOBrowser(r)
	if len(returnTo) > maxReturnTo {
		return errReturnTooLong()
	}
	if wait, _ := h.SSOStarts.Take(clientNetwork(r), h.Now()); wait > 0 {
		problem := respond.LocalizedFault(r.Context(), middleware.NewRateLimitError(wait, "Too many sign-ins from this address. Try again in a moment."))
		return h.signInPage(w, r, f.ToForm(problem), problem, returnTo)
	}
	shell.ClearWriteDeadline(w)
	to, err := h.SSO.Start(r.Context(), f.Text("email"), returnTo, browser)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.signInPage(w, r, f.ToForm(problem), problem, returnTo)
	}
	if err != nil {
		return err
	}
	h.SetSSOCookie(w, browser)
	return h.RedirectToProvider(w, r, to, "/login")
}

// Rate limit of SSO starts per network: enough for a large company's morning. Each start queries a provider and
// stores a row.
const (
	ssoStartsPerSecond = 5
	ssoStartsAtOnce    = 300
)

// clientNetwork is the network of a request's address.
func clientNetwork(r *http.Request) netip.Addr {
	return middleware.ClientNetwork(chimiddleware.GetClientIPAddr(r.Context()))
}

// maxReturnTo bounds the return path stored for a sign-in, in bytes, because the browser is anonymous. Proxies
// accept addresses of this length, so no program's request is longer.
const maxReturnTo = 8 << 10

func errReturnTooLong() error {
	return fault.Errorf(fault.Invalid, "This URL is too long to keep during sign-in. Nothing was allowed or changed.")
}

// ssoCallback is the redirect target of SSO providers. Its address holds a code and a state, so it is treated
// as that of oauthCallback.
func (h *Handler) ssoCallback(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	if r.Method == http.MethodHead {
		return nil // a HEAD request does not use the code up
	}
	response := sso.Return{Query: r.URL.Query(), Browser: h.ReadSSOBrowser(r), Address: auth.Address(r), RequestID: chimiddleware.GetReqID(r.Context())}
	ctx, _, err := h.Auth.IdentifyPerson(r)
	if err == nil {
		person, _ := auth.ActorFrom(ctx)
		response.Person = &person
	} else if !fault.Is(err, fault.Unauthenticated) {
		return err
	}
	shell.ClearWriteDeadline(w)
	done, err := h.SSO.Finish(r.Context(), response)
	if err != nil && done.Confirmed {
		return h.showUnconfirmed(w, r, err)
	}
	if err != nil {
		return h.showSignInFailure(w, r, response.Person != nil, err, done.ReturnTo)
	}
	if done.Confirmed {
		return h.confirmedBySSO(w, r, *response.Person)
	}
	if done.Trial != nil {
		return h.Respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Notice, Text: trialText(r.Context(), *done.Trial)})
	}
	if err := h.Auth.StartSessionBySSO(r.Context(), done.User, done.Tenant.ID, auth.NewBrowser(r)); err != nil {
		return err
	}
	return respond.See(w, r, respond.OwnPath(done.ReturnTo, "/"))
}

// showSignInFailure shows why a sign-in at a provider failed, on the page where it began, with the return path.
func (h *Handler) showSignInFailure(w http.ResponseWriter, r *http.Request, signedIn bool, err error, returnTo string) error {
	f := respond.LocalizedFault(r.Context(), err)
	switch f.Kind {
	case fault.Denied, fault.Conflict, fault.Upstream, fault.Invalid, fault.NotFound:
	default:
		return err
	}
	if signedIn {
		return h.Respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Alert, Text: f.Message})
	}
	return h.signInPage(w, r, templates.Form{Problem: f.Message}, f, respond.OwnPath(returnTo, "/"))
}

func (h *Handler) signInPage(w http.ResponseWriter, r *http.Request, form templates.Form, problem *fault.Error, returnTo string) error {
	respond.SetRetryAfter(w.Header(), problem)
	return h.renderSignIn(w, r, respond.Status(problem.Kind), templates.SignInPage{
		Frame: h.SignedOutFrame(r, i18n.T(r.Context(), "Sign in")), Form: form, ReturnTo: returnTo,
	})
}

// trialText says what a provider reported about the owner.
func trialText(ctx context.Context, t sso.Trial) string {
	text := i18n.T(ctx, "Connection works: signed in as %s.", t.Email)
	if len(t.Groups) > 0 {
		text += " " + i18n.T(ctx, "Groups: %s.", strings.Join(t.Groups, ", "))
	} else {
		text += " " + i18n.T(ctx, "No groups.")
	}
	if t.Role == "" {
		text += " " + i18n.T(ctx, "No access.")
	} else {
		text += " " + i18n.T(ctx, "Role: %s.", shell.RoleName(ctx, t.Role))
	}
	if !t.Covered {
		text += " " + i18n.T(ctx, "Your email domain isn't verified.")
	}
	return text
}
