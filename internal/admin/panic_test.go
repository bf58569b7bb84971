package admin_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/admin"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/safe"
	"patchbay/internal/safehttp"
	"patchbay/internal/testing/paniclog"
	"patchbay/internal/testing/testclient"
)

// TestPage_PanicIsAFailurePageForItsReaderAlone has a page panic for one tenant's browser.
func TestPage_PanicIsAFailurePageForItsReaderAlone(t *testing.T) {
	var panics atomic.Bool
	d := newDashboard(t, func(o *admin.Options) {
		o.Now = func() time.Time {
			if panics.Load() {
				panic("a secret")
			}
			return time.Now()
		}
	})
	b := d.signInAsRole(connectors.RoleOwner)
	other := d.browser()
	other.signIn(d.MemberIn(t, d.Other, connectors.RoleOwner, d.withPassword()).Email)
	before := safe.Count(safe.Handler)
	panics.Store(true)
	for range 3 {
		if p := b.get("/connectors"); p.Status != http.StatusInternalServerError || strings.Contains(p.Body, "a secret") || !p.says("went wrong") {
			t.Fatalf("%d: %s", p.Status, p.Body)
		}
	}
	if p := other.get("/connectors/new"); p.Status != http.StatusOK {
		t.Errorf("another tenant's page: %d", p.Status)
	}
	panics.Store(false)
	if p := b.get("/connectors"); p.Status != http.StatusOK {
		t.Errorf("the page afterwards: %d", p.Status)
	}
	if n := safe.Count(safe.Handler) - before; n < 3 {
		t.Errorf("%d panics are counted", n)
	}
}

// The stream of /events panics before and after its first event.
func TestEvents_PanicEndsThatStreamAlone(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	var exploding atomic.Bool
	d := newDashboard(t, func(o *admin.Options) {
		o.Now = func() time.Time {
			if exploding.Load() {
				panic("a secret")
			}
			return time.Now()
		}
	})
	d.log.copyTo(panics)
	b := d.signInAsRole(connectors.RoleOwner)
	const streams = 11 // one more than a person may have
	exploding.Store(true)
	for range streams {
		if p := b.get("/events"); p.Status != http.StatusInternalServerError {
			t.Errorf("a stream that panics at once: %d", p.Status)
		}
	}
	exploding.Store(false)
	events := b.openEvents()
	exploding.Store(true)
	for event := events.next(); event != ""; event = events.next() {
		if strings.Contains(event, "a secret") {
			t.Errorf("event %q", event)
		}
	}
	exploding.Store(false)
	b.openEvents()
	panics.WantTimes(t, safe.Handler, "TestEvents_PanicEndsThatStreamAlone", streams+1)
}

// The HTTP client panics while the callback exchanges the code for tokens.
func TestOAuthCallback_PanicIsAFailurePage(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	exploding := &explodingTransport{next: testclient.New(t).Transport}
	d := newDashboard(t, func(o *admin.Options) {
		egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
		o.Connect = connect.New(connect.Options{
			Store: o.Store, OAuth: &oauth.Client{HTTP: &http.Client{Transport: exploding}, CheckURL: egress.CheckURL},
			Dialer: &mcp.Dialer{HTTP: egress.Client(), Version: "test"}, BaseURL: o.BaseURL,
		})
	})
	d.log.copyTo(panics)
	_, resource := startProtectedServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	b := d.signInAsRole(connectors.RoleAdmin)
	b.addNotes(resource.URL)
	callback := b.followConsent(b.followConnect("/connectors/notes/connect"))
	exploding.panics.Store(true)
	p := b.get(callback)
	if p.Status != http.StatusInternalServerError || strings.Contains(p.Body, "a secret") || !p.says("went wrong") {
		t.Errorf("%d: %s", p.Status, p.Body)
	}
	exploding.panics.Store(false)
	b.get("/connectors/notes/credentials").want(t, http.StatusOK, "Not connected")
	b.followCallback(b.followConsent(b.followConnect("/connectors/notes/connect"))).want(t, http.StatusOK, "Connected “Notes”.")
	panics.Want(t, safe.Handler, "(*explodingTransport).RoundTrip")
}

// explodingTransport panics while panics is true.
type explodingTransport struct {
	next   http.RoundTripper
	panics atomic.Bool
}

func (e *explodingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if e.panics.Load() {
		panic("a secret")
	}
	return e.next.RoundTrip(r)
}
