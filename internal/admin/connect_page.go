package admin

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"patchbay/internal/connect"
	"patchbay/internal/fault"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// connectShow is the page of a link that was sent to the owner of an account. Looking at it does not use the link up: chat
// programs look at what people send.
func (h *Handler) connectShow(w http.ResponseWriter, r *http.Request) error {
	return h.invitation(w, r, http.StatusOK, "")
}

// connectAccept is the page's button: it binds this browser, uses the link up, and goes on to the authorization server.
func (h *Handler) connectAccept(w http.ResponseWriter, r *http.Request) error {
	value := h.visit(r)
	waitLong(w)
	started, err := h.connect.Accept(r.Context(), linkToken(r), connect.CookieBinding(value))
	if problem, ok := mendable(r.Context(), err); ok {
		respond.SetRetryAfter(w.Header(), problem)
		return h.invitation(w, r, respond.Status(problem.Kind), problem.Message)
	}
	if err != nil {
		return h.linkRefused(w, r, err)
	}
	cookie := h.visitorCookie()
	cookie.Value, cookie.MaxAge = value, int(visitTime.Seconds())
	http.SetCookie(w, &cookie)
	http.Redirect(w, r, started.AuthorizeURL, http.StatusSeeOther)
	return nil
}

// connectDone is where a connection by a link ends that names no page to return to.
func (h *Handler) connectDone(w http.ResponseWriter, r *http.Request) error {
	frame := h.door(r, words.T(r.Context(), "Connected"))
	page := templates.SaidPage{Frame: frame, Title: words.T(r.Context(), "You can close this page"), Text: words.T(r.Context(), "Whoever sent you the link sees that the account is connected.")}
	if frame.Flash == nil {
		page.Frame.Title, page.Title, page.Text = words.T(r.Context(), "Nothing to do"), words.T(r.Context(), "Nothing to do here"), words.T(r.Context(), "To connect an account, open the link that you were sent.")
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Said(page))
}

// invitation shows what a link asks for. problem: why its button went nowhere.
func (h *Handler) invitation(w http.ResponseWriter, r *http.Request, status int, problem string) error {
	waitLong(w)
	i, err := h.connect.Open(r.Context(), linkToken(r))
	if err != nil {
		return h.linkRefused(w, r, err)
	}
	if problem == "" {
		problem = i.Problem
	}
	middleware.AllowFormsTo(w.Header(), h.destinations(i.AuthorizeOrigin)...)
	return h.respond.Page(w, r, status, templates.Invitation(templates.InvitationPage{
		Frame:  h.door(r, words.T(r.Context(), "Connect %s", i.Connector)),
		Tenant: i.Tenant, Connector: i.Connector, Host: hostsOf(i.ConnectorURL), Agent: i.Agent, MadeBy: i.MadeBy,
		Server: i.Server, TokenHost: i.TokenHost, Scopes: i.Scopes, Ends: when(r.Context(), i.ExpiresAt, h.now()), Problem: problem,
		Action: r.URL.EscapedPath(),
	}))
}

// destinations are where the button may lead. Browsers hold every redirect that follows a form against its page's policy, and
// an authorization server often sends people on to where they sign in: hence any secure site. The page has no other form.
func (h *Handler) destinations(origin string) []string {
	all := []string{"https:"}
	if strings.HasPrefix(origin, "http:") {
		return append(all, origin)
	}
	if origin == "" && !h.secure() {
		return append(all, "http:")
	}
	return all
}

// linkRefused says that a link leads nowhere.
func (h *Handler) linkRefused(w http.ResponseWriter, r *http.Request, err error) error {
	f := respond.Told(r.Context(), err)
	if f.Kind == fault.Internal || f.Kind == fault.Unavailable {
		return err
	}
	return h.respond.Page(w, r, respond.Status(f.Kind), templates.Error(templates.ErrorPage{
		Frame: h.door(r, words.T(r.Context(), "Link")), Status: respond.Status(f.Kind), Title: words.T(r.Context(), "This link does not work any more"), Text: f.Message,
	}))
}

func linkToken(r *http.Request) secret.Text { return secret.Text(pathValue(r, "token")) }

// visitTime is how long a visitor may stay at the authorization server, which is as long as the connection waits.
const visitTime = 10 * time.Minute

// visitorCookie recognizes the browser that pressed a link's button. It is Lax: the way back comes from another site.
func (h *Handler) visitorCookie() http.Cookie {
	name := "patchbay_connect"
	if h.secure() {
		name = "__Host-" + name
	}
	return http.Cookie{Name: name, Path: "/", HttpOnly: true, Secure: h.secure(), SameSite: http.SameSiteLaxMode}
}

// visit is what this browser is recognized by: what it has already, because it may be on its way for another link as well.
func (h *Handler) visit(r *http.Request) string {
	bits := make([]byte, 32)
	if cookie, err := r.Cookie(h.visitorCookie().Name); err == nil {
		if was, err := base64.RawURLEncoding.DecodeString(cookie.Value); err == nil && len(was) == len(bits) {
			return cookie.Value
		}
	}
	_, _ = rand.Read(bits) // never fails
	return base64.RawURLEncoding.EncodeToString(bits)
}

// visitor is what binds a connection to the browser that pressed a link's button; empty: this one did not. The cookie ends by itself:
// whoever was sent two links may come back twice.
func (h *Handler) visitor(r *http.Request) secret.Text {
	cookie, err := r.Cookie(h.visitorCookie().Name)
	if err != nil {
		return ""
	}
	return connect.CookieBinding(cookie.Value)
}

// secure tells whether people reach us by https.
func (h *Handler) secure() bool { return strings.HasPrefix(h.baseURL, "https:") }
