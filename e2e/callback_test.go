//go:build e2e

package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestACallbackIsTakenOnceAndFromItsBrowserAlone sends the authorization server's codes back in every wrong
// way. None may be exchanged.
func TestACallbackIsTakenOnceAndFromItsBrowserAlone(t *testing.T) {
	t.Parallel()
	inEachHTTPMode(t, testACallbackIsTakenOnceAndFromItsBrowserAlone)
}

func testACallbackIsTakenOnceAndFromItsBrowserAlone(t *testing.T, setting string) {
	w := newConnecting(t, setting)
	w.connector("/mcp")
	for name, bring := range map[string]func(*visitor) *visitor{
		"from another browser": func(v *visitor) *visitor { return w.visitor().open(v.back.String()) },
		"with another state":   func(v *visitor) *visitor { return v.open(changed(v.back, "state", strings.Repeat("a", 43))) },
		"without a state":      func(v *visitor) *visitor { return v.open(changed(v.back, "state", "")) },
		"from another server":  func(v *visitor) *visitor { return v.open(changed(v.back, "iss", "https://evil.example.com")) },
		"without an issuer":    func(v *visitor) *visitor { return v.open(changed(v.back, "iss", "")) },
		"with two codes":       func(v *visitor) *visitor { return v.open(v.back.String() + "&code=another") },
		"of somebody's flow":   func(v *visitor) *visitor { return v.open(w.atTheDoor("").back.String()) }, // login CSRF
	} {
		if v := bring(w.atTheDoor("")); v.shown.status != http.StatusBadRequest {
			t.Errorf("a callback %s is answered %d: %s", name, v.shown.status, v.shown.body)
		}
	}
	if n := w.as.tokenRequests(); n != 0 {
		t.Errorf("%d token requests", n)
	}
	w.c.must(http.StatusConflict, http.MethodPost, "/connectors/notes/sync_tools", nil)

	v := w.atTheDoor("")
	first := v.open(v.back.String())
	if first.shown.status != http.StatusOK {
		t.Errorf("the callback is answered %d: %s", first.shown.status, first.shown.body)
	}
	asked := w.as.tokenRequests()
	if again := v.open(v.back.String()); again.shown.status != http.StatusBadRequest || asked != 1 || w.as.tokenRequests() != asked {
		t.Errorf("the replayed callback is answered %d, after %d token requests", again.shown.status, w.as.tokenRequests())
	}
	if run := w.sync(); run["status"] != "ok" {
		t.Errorf("the replay has harmed the connection: %v", run)
	}
}

// atTheDoor is a browser after the consent, before the callback.
func (w *connecting) atTheDoor(agent string) *visitor {
	w.t.Helper()
	v := w.visitor()
	v.stops = true
	v.follow(w.link(agent)).agree("ada@example.com")
	v.stops = false
	return v
}

// changed is an address with another value of a parameter; empty: without it.
func changed(u *url.URL, name, value string) string {
	other, q := *u, u.Query()
	if q.Set(name, value); value == "" {
		q.Del(name)
	}
	other.RawQuery = q.Encode()
	return other.String()
}

// TestAFlowOfTheDashboardBelongsToItsSession starts a flow as the page does, and opens the callback in a
// browser with another person's session, or with none.
func TestAFlowOfTheDashboardBelongsToItsSession(t *testing.T) {
	t.Parallel()
	w := newConnecting(t)
	w.connector("/mcp")
	owner := w.visitor()
	w.s.setUp(&person{t: t, client: &http.Client{Transport: localTransport, Jar: owner.client.Jar, CheckRedirect: newPerson(t).client.CheckRedirect}})
	colleague := w.visitor()
	w.env = append(w.env, "PATCHBAY_PASSWORD="+ownerPassword)
	w.run("user", "create", "--tenant", "default", "--email", "colleague@example.com", "--role", "owner")
	colleague.open(w.s.base+"/login").send("/login", url.Values{"email": {"colleague@example.com"}, "password": {ownerPassword}})

	for name, other := range map[string]*visitor{"a colleague": colleague, "a stranger": w.visitor()} {
		back := w.startedBy(owner)
		if other.open(back); other.shown.status != http.StatusBadRequest {
			t.Errorf("%s is answered %d at %s: %s", name, other.shown.status, other.at.Path, other.shown.body)
		}
	}
	if n := w.as.tokenRequests(); n != 0 {
		t.Errorf("%d token requests", n)
	}
	if owner.open(w.startedBy(owner)); owner.at.Path != "/connectors/notes" || !strings.Contains(owner.shown.body, "Connected ") {
		t.Errorf("the owner comes back to %s: %d %s", owner.at.Path, owner.shown.status, owner.shown.body)
	}
}

// startedBy starts a flow with a session cookie and returns the callback's address, not opened yet.
func (w *connecting) startedBy(v *visitor) string {
	w.t.Helper()
	res, err := v.client.Post(w.s.base+"/api/v1/connectors/notes/connect", "application/json", strings.NewReader(`{"return_to": "/connectors/notes"}`))
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	var started struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	if err := json.NewDecoder(res.Body).Decode(&started); err != nil || started.AuthorizeURL == "" {
		w.t.Fatalf("connecting with a session is answered %d, %v", res.StatusCode, err)
	}
	v.stops = true
	defer func() { v.stops = false }()
	return v.open(started.AuthorizeURL).agree("ada@example.com").back.String()
}
