package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"time"

	"patchbay/bench/churn"
)

const signInDoor = "single sign-on"

// arrival is somebody who signs in at their organisation's provider.
type arrival struct {
	tenant *tenant
	email  string
	acked  int // sign-ins that ended in a session
	tries  int
}

// arrivals are all of them.
type arrivals struct {
	mu    sync.Mutex // guards all
	all   []*arrival
	ended int // of the tries, in a session
	told  int // in a sentence that says why not
}

func (t *tenant) domain() string { return t.slug + ".example" }

// other is another tenant.
func (w *world) other(t *tenant) *tenant {
	if w.tenants[0] == t {
		return w.tenants[1]
	}
	return w.tenants[0]
}

// visitor is a browser of somebody's own.
func (w *world) visitor() (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	return &http.Client{
		Jar: jar, Timeout: 40 * time.Second, Transport: w.client.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, err
}

// goesTo has a browser go somewhere, by a connection of its own: net/http would repeat what was lost. A page may lead back to where it stands,
// which the browser said itself: that is taken out of it.
func (w *world) goesTo(ctx context.Context, browser *http.Client, method, address string, form url.Values) (status int, text []byte, header http.Header, err error) {
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, nil, nil, err
	}
	r.Close = true
	r.Header.Set("X-Forwarded-For", somewhere())
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	a, err := browser.Do(r) //nolint:bodyclose // ReadAnswer closes it
	if err != nil {
		return 0, nil, nil, err
	}
	status, text, err = churn.ReadAnswer(a, nil)
	return status, bytes.ReplaceAll(text, []byte(html.EscapeString(r.URL.RequestURI())), nil), a.Header, err
}

// turnsOn sets single sign-on up as an owner does: the settings, the domain, a test at the provider, and on.
func (w *world) turnsOn(ctx context.Context, t *tenant) error {
	t.client = planted + rand.Text()
	settings := map[string]any{"issuer": w.provider.issuer(t), "client_id": "patchbay", "client_secret": t.client, "joins": true, "default_role": "viewer"}
	if err := w.ask(ctx, t, http.MethodPatch, "/api/v1/sso", settings, nil); err != nil {
		return err
	}
	if _, err := w.command(ctx, "sso", "verify-domain", "--tenant", t.slug, t.domain()); err != nil {
		return err
	}
	status, text, header, err := w.goesTo(ctx, t.person, http.MethodPost, w.next()+"/settings/sso/test", url.Values{})
	if err != nil || status != http.StatusOK {
		return errors.Join(err, fmt.Errorf("test single sign-on: %d %.300s", status, text))
	}
	if _, back, _ := w.atProvider(ctx, t.person, header); back == "" {
		return errors.New("the provider does not answer")
	} else if status, text, _, err = w.goesTo(ctx, t.person, http.MethodGet, back, nil); err != nil || status != http.StatusSeeOther {
		return errors.Join(err, fmt.Errorf("come back from the provider: %d %.300s", status, text))
	}
	return w.ask(ctx, t, http.MethodPatch, "/api/v1/sso", map[string]any{"enabled": true}, nil)
}

// atProvider goes where a page of ours leads, and is where the provider sends the browser: to whichever process is next.
func (w *world) atProvider(ctx context.Context, browser *http.Client, page http.Header) (status int, back string, err error) {
	_, to, _ := strings.Cut(page.Get("Refresh"), "url=")
	status, _, header, err := w.goesTo(ctx, browser, http.MethodGet, to, nil)
	if err != nil || status != http.StatusFound {
		return status, "", err
	}
	rest, ours := strings.CutPrefix(header.Get("Location"), w.front.base)
	if !ours {
		return status, "", nil
	}
	return status, w.next() + rest, nil
}

// arrives has people sign in at their organisation's provider, some for the first time.
func (w *world) arrives(t *tenant, i int) func(context.Context) {
	n := 0
	var known []*arrival
	return func(ctx context.Context) {
		if n++; n%3 == 1 {
			who := &arrival{tenant: t, email: fmt.Sprintf("p-%d-%d@%s", i, n, t.domain())}
			known = append(known, who)
			w.arrivals.mu.Lock()
			w.arrivals.all = append(w.arrivals.all, who)
			w.arrivals.mu.Unlock()
		}
		w.arrive(ctx, known[n%len(known)])
	}
}

// arrive is one sign-in, in a browser that was never here.
func (w *world) arrive(ctx context.Context, who *arrival) {
	began, shifts := time.Now(), w.provider.shifts.Load()
	quiet := func() bool { // nothing is wrong with the provider, nor with a clock, nor was
		return w.clocksRight(began) && providing(w.provider.now.Load()) == provides && w.provider.shifts.Load() == shifts
	}
	browser, err := w.visitor()
	if err != nil {
		return
	}
	status, text, header, err := w.goesTo(ctx, browser, http.MethodPost, w.next()+"/login/sso", url.Values{"email": {who.email}})
	if !w.arrivedAt(who.tenant, status, http.StatusOK, text, err, quiet) {
		return
	}
	status, back, err := w.atProvider(ctx, browser, header)
	if back == "" {
		w.tally.count("their organisation's provider", kindOf(status, err))
		return
	}
	who.tries++
	status, text, _, err = w.goesTo(ctx, browser, http.MethodGet, back, nil)
	if !w.arrivedAt(who.tenant, status, http.StatusSeeOther, text, err, quiet) {
		return
	}
	who.acked++
	w.acknowledged()
	w.arrivals.mu.Lock()
	w.arrivals.ended++
	w.arrivals.mu.Unlock()
	if providing(w.provider.now.Load()) == strays && w.provider.shifts.Load() == shifts {
		w.tally.note("crossed", fmt.Sprintf("somebody of another organisation came in at %s", who.tenant.slug))
	}
	w.isIn(ctx, who, browser, back)
}

// arrivedAt notes what a browser was answered on its way. What goes wrong is told in a sentence on the page where a sign-in begins.
func (w *world) arrivedAt(t *tenant, status, want int, text []byte, err error, quiet func() bool) bool {
	if err == nil && status != want && status < 600 && strings.Contains(string(text), `class="form-problem" role="alert"`) && !quiet() {
		w.look(t, signInDoor, text)
		w.tally.count(signInDoor, "told why not")
		w.arrivals.mu.Lock()
		defer w.arrivals.mu.Unlock()
		w.arrivals.told++
		return false
	}
	w.met(t, signInDoor, status, text, err)
	if err == nil && status < 500 && status != want {
		w.tally.note("unclear", fmt.Sprintf("%s: %d %.300s", signInDoor, status, text))
	}
	return err == nil && status == want
}

// isIn looks at what somebody sees who has signed in: their own organisation. Their provider's answer works no second time.
func (w *world) isIn(ctx context.Context, who *arrival, browser *http.Client, back string) {
	status, text, header, err := w.goesTo(ctx, browser, http.MethodGet, w.next()+"/account", nil)
	w.met(who.tenant, "dashboard, by single sign-on", status, text, err)
	switch {
	case err != nil || status >= 500:
	case strings.HasPrefix(header.Get("Location"), "/login"):
		w.tally.note("signed out", who.email+" has just signed in")
	case !strings.Contains(string(text), who.tenant.mark) || !strings.Contains(string(text), who.email):
		w.tally.note("crossed", fmt.Sprintf("%s is not in %s, or is somebody else", who.email, who.tenant.slug))
	}
	status, text, header, err = w.goesTo(ctx, browser, http.MethodGet, back, nil)
	w.heard(who.tenant, "dashboard, by single sign-on", status, text, err)
	if err == nil && status == http.StatusSeeOther && !strings.HasPrefix(header.Get("Location"), "/settings/sso") {
		w.tally.note("stolen", fmt.Sprintf("an answer of the provider worked twice: %s", header.Get("Location")))
	}
	status, text, _, err = w.goesTo(ctx, browser, http.MethodPost, w.next()+"/logout", url.Values{})
	w.met(who.tenant, "dashboard, by single sign-on", status, text, err)
}

// arrivalsAfterwards holds the sign-ins that ended in a session against the members and the audit log.
func (w *world) arrivalsAfterwards(ctx context.Context, t *tenant) error {
	members, err := everything[struct{ Email, Role string }](ctx, w, t, "/api/v1/members?")
	if err != nil {
		return err
	}
	events, err := everything[struct{ Detail struct{ Email string } }](ctx, w, t, "/api/v1/audit_events?action=sso.sign_in&")
	if err != nil {
		return err
	}
	times, is := map[string]int{}, map[string]int{}
	for _, e := range events {
		times[e.Detail.Email]++
	}
	for _, m := range members {
		is[m.Email]++
	}
	w.compareArrivals(t, times, is)
	return nil
}

// compareArrivals holds people's sign-ins against how often the audit log has them, and against how often each is a member.
func (w *world) compareArrivals(t *tenant, times, is map[string]int) {
	for email := range is {
		if strings.HasSuffix(email, w.other(t).domain()) {
			w.tally.note("crossed", fmt.Sprintf("%s is a member of %s", email, t.slug))
		}
	}
	for _, who := range w.arrivals.all {
		switch {
		case who.tenant != t:
		case who.acked > times[who.email], who.acked > 0 && is[who.email] != 1:
			w.tally.note("lost", fmt.Sprintf("%s signed in %d times; the audit log has %d, the members %d", who.email, who.acked, times[who.email], is[who.email]))
		case times[who.email] > who.tries:
			w.tally.note("double", fmt.Sprintf("%s came back %d times from the provider, and signed in %d times", who.email, who.tries, times[who.email]))
		}
	}
}
