package accounts

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connect"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

// connectShow is the page of a link that was sent to the owner of an account. A GET does not use the link up,
// because chat programs load links.
func (h *Handler) connectShow(w http.ResponseWriter, r *http.Request) error {
	return h.connectLinkPage(w, r, http.StatusOK, "")
}

// connectAccept binds the browser, uses the link up, and redirects to the authorization server.
func (h *Handler) connectAccept(w http.ResponseWriter, r *http.Request) error {
	value := h.linkBrowserID(r)
	shell.ClearWriteDeadline(w)
	started, err := h.Connect.AcceptLink(r.Context(), linkToken(r), connect.CookieBinding(value))
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		respond.SetRetryAfter(w.Header(), problem)
		return h.connectLinkPage(w, r, respond.Status(problem.Kind), problem.Message)
	}
	if err != nil {
		return h.renderLinkError(w, r, err)
	}
	cookie := h.linkCookie()
	cookie.Value, cookie.MaxAge = value, int(linkCookieLifetime.Seconds())
	http.SetCookie(w, &cookie)
	http.Redirect(w, r, started.AuthorizeURL, http.StatusSeeOther)
	return nil
}

// connectDone is the final page of a connection by a link without a return address.
func (h *Handler) connectDone(w http.ResponseWriter, r *http.Request) error {
	frame := h.SignedOutFrame(r, i18n.T(r.Context(), "Connected"))
	page := templates.SaidPage{Frame: frame, Title: i18n.T(r.Context(), "You can close this page"), Text: i18n.T(r.Context(), "The sender can see that it's connected.")}
	if frame.Flash == nil {
		page.Frame.Title, page.Title, page.Text = i18n.T(r.Context(), "Nothing to do"), i18n.T(r.Context(), "Nothing to do"), i18n.T(r.Context(), "Open the link you were sent.")
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Said(page))
}

// connectLinkPage shows what a link is for. problem says why the button failed.
func (h *Handler) connectLinkPage(w http.ResponseWriter, r *http.Request, status int, problem string) error {
	shell.ClearWriteDeadline(w)
	i, err := h.Connect.ReadLink(r.Context(), linkToken(r))
	if err != nil {
		return h.renderLinkError(w, r, err)
	}
	if problem == "" {
		problem = i.Problem
	}
	middleware.AllowFormsTo(w.Header(), h.formDestinations(i.AuthorizeOrigin)...)
	return h.Respond.Page(w, r, status, templates.Invitation(templates.InvitationPage{
		Frame:  h.SignedOutFrame(r, i18n.T(r.Context(), "Connect %s", i.Connector)),
		Tenant: i.Tenant, Connector: i.Connector, Host: shell.HostWithUnicode(i.CredentialURL), Agent: i.Agent, Account: i.Account, MadeBy: i.MadeBy,
		Server: i.Server, TokenHost: i.TokenHost, Scopes: i.Scopes, Ends: shell.NewWhen(r.Context(), i.ExpiresAt, h.Now()), Problem: problem,
		Action: r.URL.EscapedPath(),
	}))
}

// formDestinations are the form-action sources of the page. Browsers check every redirect after a form, and an
// authorization server often redirects to a sign-in elsewhere: hence any https site.
func (h *Handler) formDestinations(origin string) []string {
	all := []string{"https:"}
	if strings.HasPrefix(origin, "http:") {
		return append(all, origin)
	}
	if origin == "" && !h.IsHTTPS() {
		return append(all, "http:")
	}
	return all
}

// renderLinkError says why a link is not valid.
func (h *Handler) renderLinkError(w http.ResponseWriter, r *http.Request, err error) error {
	f := respond.LocalizedFault(r.Context(), err)
	if f.Kind == fault.Internal || f.Kind == fault.Unavailable {
		return err
	}
	return h.Respond.Page(w, r, respond.Status(f.Kind), templates.Error(templates.ErrorPage{
		Frame: h.SignedOutFrame(r, i18n.T(r.Context(), "Link")), Status: respond.Status(f.Kind), Title: i18n.T(r.Context(), "This link no longer works"), Text: f.Message,
	}))
}

func linkToken(r *http.Request) secret.Text { return secret.Text(shell.PathValue(r, "token")) }

// linkCookieLifetime is the lifetime of a pending connection.
const linkCookieLifetime = 10 * time.Minute

// linkCookie identifies the browser that used a link. It is SameSite=Lax, because the callback comes from
// another site.
func (h *Handler) linkCookie() http.Cookie {
	name := "patchbay_connect"
	if h.IsHTTPS() {
		name = "__Host-" + name
	}
	return http.Cookie{Name: name, Path: "/", HttpOnly: true, Secure: h.IsHTTPS(), SameSite: http.SameSiteLaxMode}
}

// linkBrowserID returns the cookie's value, or a new one. An existing value is kept, since a second link may be
// pending in this browser.
func (h *Handler) linkBrowserID(r *http.Request) string {
	bits := make([]byte, 32)
	if cookie, err := r.Cookie(h.linkCookie().Name); err == nil {
		if was, err := base64.RawURLEncoding.DecodeString(cookie.Value); err == nil && len(was) == len(bits) {
			return cookie.Value
		}
	}
	_, _ = rand.Read(bits) // never fails
	return base64.RawURLEncoding.EncodeToString(bits)
}

// linkBinding binds a connection to the browser that used a link; empty without a cookie. The cookie expires by
// itself, since two links may be pending.
func (h *Handler) linkBinding(r *http.Request) secret.Text {
	cookie, err := r.Cookie(h.linkCookie().Name)
	if err != nil {
		return ""
	}
	return connect.CookieBinding(cookie.Value)
}
