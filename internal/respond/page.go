package respond

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"patchbay/internal/fault"
)

// Page responds with a page. It is rendered before the first byte is sent, so that a failure is still a
// failure.
func (p *Responder) Page(w http.ResponseWriter, r *http.Request, status int, page templ.Component) error {
	var body bytes.Buffer
	if err := page.Render(r.Context(), &body); err != nil {
		return fmt.Errorf("render page: %w", err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // a write error means that the browser is gone
	return nil
}

// See redirects the browser with 303.
func See(w http.ResponseWriter, r *http.Request, to string) error {
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// Failure responds with a failure page, or redirects to the sign-in. A script gets a sentence for the open
// page.
func (p *Responder) Failure(w http.ResponseWriter, r *http.Request, err error) {
	f := p.asFault(r.Context(), err)
	if f.Kind == fault.Unauthenticated {
		p.signIn(w, r)
		return
	}
	SetRetryAfter(w.Header(), f)
	page := p.errorPage
	if fromScript(r) {
		page = failureFragment
		w.Header().Set("HX-Retarget", "#alert")
		w.Header().Set("HX-Reselect", "[data-kind=alert]")
		w.Header().Set("HX-Reswap", "innerHTML")
	}
	if err := p.Page(w, r, Status(f.Kind), page(r, f)); err != nil {
		p.Problem(w, r, err)
	}
}

// signIn redirects to the sign-in page with a return path. A script's request is not a page to return to.
func (p *Responder) signIn(w http.ResponseWriter, r *http.Request) {
	to := "/login"
	if isReadMethod(r) && r.Header.Get("HX-Request") == "" && r.URL.Path != "/" && r.URL.Path != "/events" {
		to += "?" + url.Values{"return_to": {r.URL.RequestURI()}}.Encode()
	}
	if referer := CameFrom(r, ""); !isReadMethod(r) && referer != "" && !strings.HasPrefix(referer, "/login") {
		to += "?" + url.Values{"return_to": {referer}, "unsent": {"1"}}.Encode()
	}
	if r.Header.Get("HX-Request") != "" {
		w.Header().Set("HX-Redirect", to)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// fromScript reports whether a fragment was requested. An event stream is none: its page has an indicator for
// its end.
func fromScript(r *http.Request) bool {
	return r.Header.Get("HX-Request") != "" && !strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}
