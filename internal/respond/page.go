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

// Page answers with a page. It is rendered whole before the first byte goes out: a failure half way is still a failure.
func (p *Responder) Page(w http.ResponseWriter, r *http.Request, status int, page templ.Component) error {
	var body bytes.Buffer
	if err := page.Render(r.Context(), &body); err != nil {
		return fmt.Errorf("render page: %w", err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // a browser that has gone needs no answer
	return nil
}

// See sends the browser to another page of ours with GET.
func See(w http.ResponseWriter, r *http.Request, to string) error {
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// Failure answers a failure as a page: one with our words, or the way to sign in. What a script asked for is a sentence on the page that
// stands.
func (p *Responder) Failure(w http.ResponseWriter, r *http.Request, err error) {
	f := p.failure(r, err)
	if f.Kind == fault.Unauthenticated {
		p.signIn(w, r)
		return
	}
	SetRetryAfter(w.Header(), f)
	page := p.errorPage
	if fromScript(r) {
		page = said
		w.Header().Set("HX-Retarget", "#alert")
		w.Header().Set("HX-Reselect", "[data-kind=alert]")
		w.Header().Set("HX-Reswap", "innerHTML")
	}
	if err := p.Page(w, r, Status(f.Kind), page(r, f)); err != nil {
		p.Problem(w, r, err)
	}
}

// signIn sends the browser to the sign-in page, which sends it back. What a script asked for is no page to come back to.
func (p *Responder) signIn(w http.ResponseWriter, r *http.Request) {
	to := "/login"
	if reads(r) && r.Header.Get("HX-Request") == "" && r.URL.Path != "/" && r.URL.Path != "/events" {
		to += "?" + url.Values{"return_to": {r.URL.RequestURI()}}.Encode()
	}
	if from := CameFrom(r, ""); !reads(r) && from != "" && !strings.HasPrefix(from, "/login") {
		to += "?" + url.Values{"return_to": {from}, "unsent": {"1"}}.Encode()
	}
	if r.Header.Get("HX-Request") != "" {
		w.Header().Set("HX-Redirect", to)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// fromScript tells whether a part of a page was asked for. An event stream is no part: it has a place of its own to say that it ended.
func fromScript(r *http.Request) bool {
	return r.Header.Get("HX-Request") != "" && !strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}
