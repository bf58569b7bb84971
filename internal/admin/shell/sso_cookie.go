package shell

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"patchbay/internal/i18n"
	"patchbay/internal/sso"
	"patchbay/web/templates"
)

// IsHTTPS reports whether browsers reach Patchbay by https.
func (h *Shell) IsHTTPS() bool { return strings.HasPrefix(h.BaseURL, "https:") }

// RedirectToProvider leads to a provider by a page, for the reasons of redirectByPage.
func (h *Shell) RedirectToProvider(w http.ResponseWriter, r *http.Request, to, back string) error {
	u, err := url.Parse(to)
	if err != nil {
		return err
	}
	w.Header().Set("Refresh", "0; url="+to)
	return h.Respond.Page(w, r, http.StatusOK, templates.Leaving(templates.LeavingPage{
		Frame: h.SignedOutFrame(r, i18n.T(r.Context(), "Taking you to %s", u.Host)), Host: u.Host, URL: to, Back: back, SignsIn: true,
	}))
}

// ssoCookie identifies the browser that began a sign-in. It is SameSite=Lax, because the callback comes from
// another site.
func (h *Shell) ssoCookie() http.Cookie {
	name := "patchbay_sso"
	if h.IsHTTPS() {
		name = "__Host-" + name
	}
	return http.Cookie{Name: name, Path: "/", HttpOnly: true, Secure: h.IsHTTPS(), SameSite: http.SameSiteLaxMode}
}

// EnsureSSOBrowser returns the cookie's value, or a new one. An existing value is kept, since another tab may
// have a pending sign-in.
func (h *Shell) EnsureSSOBrowser(r *http.Request) sso.Browser {
	if known := h.ReadSSOBrowser(r); !known.Empty() {
		return known
	}
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails
	return sso.Browser(base64.RawURLEncoding.EncodeToString(bits))
}

// ReadSSOBrowser reads the cookie; empty if there is none or it is malformed.
func (h *Shell) ReadSSOBrowser(r *http.Request) sso.Browser {
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

// SetSSOCookie marks the browser that begins a sign-in at a provider.
func (h *Shell) SetSSOCookie(w http.ResponseWriter, b sso.Browser) {
	cookie := h.ssoCookie()
	cookie.Value, cookie.MaxAge = b.Reveal(), int(ssoCookieLifetime.Seconds())
	http.SetCookie(w, &cookie)
}
