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
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
	"patchbay/internal/sso"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// loginSSO sends whoever has an address of an organisation's domain to the organisation's provider.
func (h *Handler) loginSSO(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	returnTo, browser := respond.OwnPath(f.text("return_to"), "/"), h.ssoBrowser(r)
	if len(returnTo) > mostReturnTo {
		return tooLong()
	}
	if wait, _ := h.ssoStarts.Take(comesFrom(r), h.now()); wait > 0 {
		problem := respond.Told(r.Context(), middleware.TooSoon(wait, "Too many sign-ins began from this address just now. Try again in a moment."))
		return h.signInPage(w, r, f.again(problem), problem, returnTo)
	}
	waitLong(w)
	to, err := h.sso.Start(r.Context(), f.text("email"), returnTo, browser)
	if problem, ok := mendable(r.Context(), err); ok {
		return h.signInPage(w, r, f.again(problem), problem, returnTo)
	}
	if err != nil {
		return err
	}
	h.keepBrowser(w, browser)
	return h.leaveToSignIn(w, r, to, "/login")
}

// How many sign-ins at providers may begin from one address: a company of thousands that comes in the morning, and no more. Each asks a
// provider, and is stored.
const (
	ssoStartsPerSecond = 5
	ssoStartsAtOnce    = 300
)

// comesFrom is who a request's address stands for.
func comesFrom(r *http.Request) netip.Addr {
	return middleware.Network(chimiddleware.GetClientIPAddr(r.Context()))
}

// mostReturnTo bounds what is stored of a sign-in that begins, in bytes: whoever begins one is nobody yet. It is what proxies let pass as an
// address, and no request of a program may be longer.
const mostReturnTo = 8 << 10

func tooLong() error {
	return fault.Errorf(fault.Invalid, "The address that brought you here is longer than Patchbay can keep while you sign in. Nothing was allowed or changed.")
}

// ssoCallback is where providers send browsers back to. Its address holds a code and a state, as that of oauthCallback.
func (h *Handler) ssoCallback(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	if r.Method == http.MethodHead {
		return nil // who only looks does not use the answer up
	}
	back := sso.Return{Query: r.URL.Query(), Browser: h.browserOf(r), Address: auth.Address(r), RequestID: chimiddleware.GetReqID(r.Context())}
	ctx, _, err := h.auth.IdentifyPerson(r)
	if err == nil {
		person, _ := auth.ActorFrom(ctx)
		back.Person = &person
	} else if !fault.Is(err, fault.Unauthenticated) {
		return err
	}
	waitLong(w)
	done, err := h.sso.Finish(r.Context(), back)
	if err != nil && done.Confirmed {
		return h.notConfirmed(w, r, err)
	}
	if err != nil {
		return h.notSignedIn(w, r, back.Person != nil, err, done.ReturnTo)
	}
	if done.Confirmed {
		return h.confirmedBySSO(w, r, *back.Person)
	}
	if done.Trial != nil {
		return h.respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Notice, Text: trialSaid(r.Context(), *done.Trial)})
	}
	if err := h.auth.StartSessionBySSO(r.Context(), done.User, done.Tenant.ID, auth.BrowserOf(r)); err != nil {
		return err
	}
	return respond.See(w, r, respond.OwnPath(done.ReturnTo, "/"))
}

// notSignedIn says why a sign-in at a provider did not work: on the page where it began, which still leads to where the person wanted to go.
func (h *Handler) notSignedIn(w http.ResponseWriter, r *http.Request, signedIn bool, err error, returnTo string) error {
	f := respond.Told(r.Context(), err)
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
		Frame: h.door(r, words.T(r.Context(), "Sign in")), Form: form, ReturnTo: returnTo,
	}))
}

// leaveToSignIn sends the browser to a provider, by a page of ours for the reasons of leave.
func (h *Handler) leaveToSignIn(w http.ResponseWriter, r *http.Request, to, back string) error {
	u, err := url.Parse(to)
	if err != nil {
		return err
	}
	w.Header().Set("Refresh", "0; url="+to)
	return h.respond.Page(w, r, http.StatusOK, templates.Leaving(templates.LeavingPage{
		Frame: h.door(r, words.T(r.Context(), "Taking you to %s", u.Host)), Host: u.Host, URL: to, Back: back, SignsIn: true,
	}))
}

// ssoCookie recognizes the browser that began a sign-in. It is Lax: the way back comes from another site.
func (h *Handler) ssoCookie() http.Cookie {
	name := "patchbay_sso"
	if h.secure() {
		name = "__Host-" + name
	}
	return http.Cookie{Name: name, Path: "/", HttpOnly: true, Secure: h.secure(), SameSite: http.SameSiteLaxMode}
}

// ssoBrowser is what this browser is recognized by: what it has already, because it may be on its way in another tab as well.
func (h *Handler) ssoBrowser(r *http.Request) sso.Browser {
	if known := h.browserOf(r); !known.Empty() {
		return known
	}
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails
	return sso.Browser(base64.RawURLEncoding.EncodeToString(bits))
}

// browserOf is what the cookie holds; empty: there is none of ours.
func (h *Handler) browserOf(r *http.Request) sso.Browser {
	cookie, err := r.Cookie(h.ssoCookie().Name)
	if err != nil {
		return ""
	}
	if was, err := base64.RawURLEncoding.DecodeString(cookie.Value); err != nil || len(was) != 32 {
		return ""
	}
	return sso.Browser(cookie.Value)
}

// ssoTime is how long the cookie stays, which is as long as a sign-in may take.
const ssoTime = 10 * time.Minute

func (h *Handler) keepBrowser(w http.ResponseWriter, b sso.Browser) {
	cookie := h.ssoCookie()
	cookie.Value, cookie.MaxAge = b.Reveal(), int(ssoTime.Seconds())
	http.SetCookie(w, &cookie)
}
