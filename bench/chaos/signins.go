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

// signIn is a person and their sign-ins.
type signIn struct {
	tenant *tenant
	email  string
	acked  int // acknowledged by a session
	tries  int
}

type signInLog struct {
	mu    sync.Mutex // guards all
	all   []*signIn
	ended int // by a session
	told  int // by an explanation
}

func (t *tenant) emailDomain() string { return t.slug + ".example" }

func (w *world) otherTenant(t *tenant) *tenant {
	if w.tenants[0] == t {
		return w.tenants[1]
	}
	return w.tenants[0]
}

func (w *world) newBrowser() (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	return &http.Client{
		Jar: jar, Timeout: 40 * time.Second, Transport: w.client.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, err
}

// followLink sends a request on a connection of its own, because net/http would retry some. It removes the
// request's own URI from the page.
func (w *world) followLink(ctx context.Context, browser *http.Client, method, address string, form url.Values) (status int, text []byte, header http.Header, err error) {
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, nil, nil, err
	}
	r.Close = true
	r.Header.Set("X-Forwarded-For", randomAddress())
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

// enableSSO configures single sign-on as an owner does: settings, domain, test, enable.
func (w *world) enableSSO(ctx context.Context, t *tenant) error {
	t.client = plantedPrefix + rand.Text()
	settings := map[string]any{"issuer": w.provider.issuerURL(t), "client_id": "patchbay", "client_secret": t.client, "joins": true, "default_role": "viewer"}
	if err := w.requireAPI(ctx, t, http.MethodPatch, "/api/v1/sso", settings, nil); err != nil {
		return err
	}
	if _, err := w.runCommand(ctx, "sso", "verify-domain", "--tenant", t.slug, t.emailDomain()); err != nil {
		return err
	}
	status, text, header, err := w.followLink(ctx, t.person, http.MethodPost, w.nextReplica()+"/settings/sso/test", url.Values{})
	if err != nil || status != http.StatusOK {
		return errors.Join(err, fmt.Errorf("test single sign-on: %d %.300s", status, text))
	}
	if _, callback, _ := w.authorizeAtProvider(ctx, t.person, header); callback == "" {
		return errors.New("the provider does not answer")
	} else if status, text, _, err = w.followLink(ctx, t.person, http.MethodGet, callback, nil); err != nil || status != http.StatusSeeOther {
		return errors.Join(err, fmt.Errorf("come back from the provider: %d %.300s", status, text))
	}
	return w.requireAPI(ctx, t, http.MethodPatch, "/api/v1/sso", map[string]any{"enabled": true}, nil)
}

// authorizeAtProvider follows a page to the provider, and returns the callback at the next process.
func (w *world) authorizeAtProvider(ctx context.Context, browser *http.Client, page http.Header) (status int, callback string, err error) {
	_, location, _ := strings.Cut(page.Get("Refresh"), "url=")
	status, _, header, err := w.followLink(ctx, browser, http.MethodGet, location, nil)
	if err != nil || status != http.StatusFound {
		return status, "", err
	}
	rest, isPatchbay := strings.CutPrefix(header.Get("Location"), w.front.base)
	if !isPatchbay {
		return status, "", nil
	}
	return status, w.nextReplica() + rest, nil
}

// signInLoop signs people in, some for the first time.
func (w *world) signInLoop(t *tenant, i int) func(context.Context) {
	n := 0
	var known []*signIn
	return func(ctx context.Context) {
		if n++; n%3 == 1 {
			person := &signIn{tenant: t, email: fmt.Sprintf("p-%d-%d@%s", i, n, t.emailDomain())}
			known = append(known, person)
			w.arrivals.mu.Lock()
			w.arrivals.all = append(w.arrivals.all, person)
			w.arrivals.mu.Unlock()
		}
		w.signInOnce(ctx, known[n%len(known)])
	}
}

// signInOnce signs in with a new browser.
func (w *world) signInOnce(ctx context.Context, person *signIn) {
	start, shifts := time.Now(), w.provider.changes.Load()
	isUndisturbed := func() bool { // provider and clocks are and were right
		return w.clocksAreRight(start) && providerMode(w.provider.mode.Load()) == providerHonest && w.provider.changes.Load() == shifts
	}
	browser, err := w.newBrowser()
	if err != nil {
		return
	}
	status, text, header, err := w.followLink(ctx, browser, http.MethodPost, w.nextReplica()+"/login/sso", url.Values{"email": {person.email}})
	if !w.recordSignIn(person.tenant, status, http.StatusOK, text, err, isUndisturbed) {
		return
	}
	status, callback, err := w.authorizeAtProvider(ctx, browser, header)
	if callback == "" {
		w.tally.countOutcome("their organisation's provider", toOutcome(status, err))
		return
	}
	person.tries++
	status, text, _, err = w.followLink(ctx, browser, http.MethodGet, callback, nil)
	if !w.recordSignIn(person.tenant, status, http.StatusSeeOther, text, err, isUndisturbed) {
		return
	}
	person.acked++
	w.countAcknowledged()
	w.arrivals.mu.Lock()
	w.arrivals.ended++
	w.arrivals.mu.Unlock()
	if providerMode(w.provider.mode.Load()) == providerMixesUp && w.provider.changes.Load() == shifts {
		w.tally.recordProblem("crossed", fmt.Sprintf("somebody of another organisation came in at %s", person.tenant.slug))
	}
	w.verifySignedIn(ctx, person, browser, callback)
}

// recordSignIn records a response on the way. Failures must be explained on the sign-in page.
func (w *world) recordSignIn(t *tenant, status, want int, text []byte, err error, isUndisturbed func() bool) bool {
	if err == nil && status != want && status < 600 && strings.Contains(string(text), `class="form-problem" role="alert"`) && !isUndisturbed() {
		w.inspectText(t, signInDoor, text)
		w.tally.countOutcome(signInDoor, "told why not")
		w.arrivals.mu.Lock()
		defer w.arrivals.mu.Unlock()
		w.arrivals.told++
		return false
	}
	w.addResponse(t, signInDoor, status, text, err)
	if err == nil && status < 500 && status != want {
		w.tally.recordProblem("unclear", fmt.Sprintf("%s: %d %.300s", signInDoor, status, text))
	}
	return err == nil && status == want
}

// verifySignedIn checks that the person sees their own organisation, and that the callback does not work twice.
func (w *world) verifySignedIn(ctx context.Context, person *signIn, browser *http.Client, callback string) {
	status, text, header, err := w.followLink(ctx, browser, http.MethodGet, w.nextReplica()+"/account", nil)
	w.addResponse(person.tenant, "dashboard, by single sign-on", status, text, err)
	switch {
	case err != nil || status >= 500:
	case strings.HasPrefix(header.Get("Location"), "/login"):
		w.tally.recordProblem("signed out", person.email+" has just signed in")
	case !strings.Contains(string(text), person.tenant.mark) || !strings.Contains(string(text), person.email):
		w.tally.recordProblem("crossed", fmt.Sprintf("%s is not in %s, or is somebody else", person.email, person.tenant.slug))
	}
	status, text, header, err = w.followLink(ctx, browser, http.MethodGet, callback, nil)
	w.inspectResponse(person.tenant, "dashboard, by single sign-on", status, text, err)
	if err == nil && status == http.StatusSeeOther && !strings.HasPrefix(header.Get("Location"), "/settings/sso") {
		w.tally.recordProblem("stolen", fmt.Sprintf("an answer of the provider worked twice: %s", header.Get("Location")))
	}
	status, text, _, err = w.followLink(ctx, browser, http.MethodPost, w.nextReplica()+"/logout", url.Values{})
	w.addResponse(person.tenant, "dashboard, by single sign-on", status, text, err)
}

// verifySignIns compares sign-ins with members and the audit log.
func (w *world) verifySignIns(ctx context.Context, t *tenant) error {
	members, err := listAll[struct{ Email, Role string }](ctx, w, t, "/api/v1/members?")
	if err != nil {
		return err
	}
	events, err := listAll[struct{ Detail struct{ Email string } }](ctx, w, t, "/api/v1/audit_events?action=sso.sign_in&")
	if err != nil {
		return err
	}
	times, memberCounts := map[string]int{}, map[string]int{}
	for _, e := range events {
		times[e.Detail.Email]++
	}
	for _, m := range members {
		memberCounts[m.Email]++
	}
	w.compareSignIns(t, times, memberCounts)
	return nil
}

func (w *world) compareSignIns(t *tenant, times, memberCounts map[string]int) {
	for email := range memberCounts {
		if strings.HasSuffix(email, w.otherTenant(t).emailDomain()) {
			w.tally.recordProblem("crossed", fmt.Sprintf("%s is a member of %s", email, t.slug))
		}
	}
	for _, person := range w.arrivals.all {
		switch {
		case person.tenant != t:
		case person.acked > times[person.email], person.acked > 0 && memberCounts[person.email] != 1:
			w.tally.recordProblem("lost", fmt.Sprintf("%s signed in %d times; the audit log has %d, the members %d", person.email, person.acked, times[person.email], memberCounts[person.email]))
		case times[person.email] > person.tries:
			w.tally.recordProblem("double", fmt.Sprintf("%s came back %d times from the provider, and signed in %d times", person.email, person.tries, times[person.email]))
		}
	}
}
