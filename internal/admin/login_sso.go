package admin

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	chimiddleware "github.com/go-chi/chi/v5/middleware"

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
	f, err := readForm(r)
	if err != nil {
		return err
	}
	returnTo, browser := respond.OwnPath(f.text("return_to"), "/"), h.ensureSSOBrowser(r)
	if len(returnTo) > maxReturnTo {
		return errReturnTooLong()
	}
	if wait, _ := h.ssoStarts.Take(clientNetwork(r), h.now()); wait > 0 {
		problem := respond.LocalizedFault(r.Context(), middleware.NewRateLimitError(wait, "Too many sign-ins began from this address just now. Try again in a moment."))
		return h.signInPage(w, r, f.toForm(problem), problem, returnTo)
	}
	clearWriteDeadline(w)
	to, err := h.sso.Start(r.Context(), f.text("email"), returnTo, browser)
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.signInPage(w, r, f.toForm(problem), problem, returnTo)
	}
	if err != nil {
		return err
	}
	h.setSSOCookie(w, browser)
	return h.redirectToProvider(w, r, to, "/login")
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
	return fault.Errorf(fault.Invalid, "The address that brought you here is longer than Patchbay can keep while you sign in. Nothing was allowed or changed.")
}

// ssoCallback is the redirect target of SSO providers. Its address holds a code and a state, so it is treated
// as that of oauthCallback.
func (h *Handler) ssoCallback(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	if r.Method == http.MethodHead {
		return nil // a HEAD request does not use the code up
	}
	response := sso.Return{Query: r.URL.Query(), Browser: h.readSSOBrowser(r), Address: auth.Address(r), RequestID: chimiddleware.GetReqID(r.Context())}
	ctx, _, err := h.auth.IdentifyPerson(r)
	if err == nil {
		person, _ := auth.ActorFrom(ctx)
		response.Person = &person
	} else if !fault.Is(err, fault.Unauthenticated) {
		return err
	}
	clearWriteDeadline(w)
	done, err := h.sso.Finish(r.Context(), response)
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
		return h.respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Notice, Text: trialText(r.Context(), *done.Trial)})
	}
	if err := h.auth.StartSessionBySSO(r.Context(), done.User, done.Tenant.ID, auth.NewBrowser(r)); err != nil {
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
		return h.respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Alert, Text: f.Message})
	}
	return h.signInPage(w, r, templates.Form{Problem: f.Message}, f, respond.OwnPath(returnTo, "/"))
}

func (h *Handler) signInPage(w http.ResponseWriter, r *http.Request, form templates.Form, problem *fault.Error, returnTo string) error {
	respond.SetRetryAfter(w.Header(), problem)
	return h.respond.Page(w, r, respond.Status(problem.Kind), templates.SignIn(templates.SignInPage{
		Frame: h.signedOutFrame(r, i18n.T(r.Context(), "Sign in")), Form: form, ReturnTo: returnTo,
	}))
}

// redirectToProvider leads to a provider by a page, for the reasons of redirectByPage.
func (h *Handler) redirectToProvider(w http.ResponseWriter, r *http.Request, to, back string) error {
	u, err := url.Parse(to)
	if err != nil {
		return err
	}
	w.Header().Set("Refresh", "0; url="+to)
	return h.respond.Page(w, r, http.StatusOK, templates.Leaving(templates.LeavingPage{
		Frame: h.signedOutFrame(r, i18n.T(r.Context(), "Taking you to %s", u.Host)), Host: u.Host, URL: to, Back: back, SignsIn: true,
	}))
}

// ssoCookie identifies the browser that began a sign-in. It is SameSite=Lax, because the callback comes from
// another site.
func (h *Handler) ssoCookie() http.Cookie {
	name := "patchbay_sso"
	if h.isHTTPS() {
		name = "__Host-" + name
	}
	return http.Cookie{Name: name, Path: "/", HttpOnly: true, Secure: h.isHTTPS(), SameSite: http.SameSiteLaxMode}
}

// ensureSSOBrowser returns the cookie's value, or a new one. An existing value is kept, since another tab may
// have a pending sign-in.
func (h *Handler) ensureSSOBrowser(r *http.Request) sso.Browser {
	if known := h.readSSOBrowser(r); !known.Empty() {
		return known
	}
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails
	return sso.Browser(base64.RawURLEncoding.EncodeToString(bits))
}

// readSSOBrowser reads the cookie; empty if there is none or it is malformed.
func (h *Handler) readSSOBrowser(r *http.Request) sso.Browser {
	cookie, err := r.Cookie(h.ssoCookie().Name)
	if err != nil {
		return ""
	}
	if was, err := base64.RawURLEncoding.DecodeString(cookie.Value); err != nil || len(was) != 32 {
		return ""
	}
	return sso.Browser(cookie.Value)
}

// ssoCookieLifetime is the lifetime of a pending sign-in.
const ssoCookieLifetime = 10 * time.Minute

func (h *Handler) setSSOCookie(w http.ResponseWriter, b sso.Browser) {
	cookie := h.ssoCookie()
	cookie.Value, cookie.MaxAge = b.Reveal(), int(ssoCookieLifetime.Seconds())
	http.SetCookie(w, &cookie)
}
