//go:build e2e

package e2e_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestOAuthSecrets_AreFoundNowhere lives a connection's whole life, troubles included, and then looks for
// every code, token and client secret in the database, the logs of two processes, and all that a browser or a program was answered.
func TestOAuthSecrets_AreFoundNowhere(t *testing.T) {
	t.Parallel()
	w := newConnecting(t)
	replica := w.launch()
	replica.waitReady()
	seen := newRecorder(strings.TrimPrefix(w.s.base, "http://"))
	w.via, w.c.via = seen, seen
	owner := newPerson(t)
	owner.client.Transport = seen
	w.s.setUp(owner)

	w.connector("/mcp", "ann", "bob")
	own := []string{path.Base(w.link("bob"))}
	w.as.live(2)
	w.connect("ann", "ann@example.com")
	v := w.atTheDoor("bob") // never comes in: its flow is pending at the end
	own = append(own, v.back.Query().Get("state"))
	own = append(own, w.cookies(v)...)
	w.expired("ann")
	w.as.pull("lose")
	w.syncFor("ann", w.c) // the answer is lost
	w.syncFor("ann", client{t: t, base: replica.base, key: w.c.key})
	w.as.live(3600)
	w.as.pull("end-grants")
	w.syncFor("ann", w.c)
	w.connect("ann", "ann@example.com")
	w.syncFor("ann", w.c)
	w.configured()
	w.readAllPages(owner)
	if counts := w.as.counts(); counts["authorization_code"] != 2 || counts["refresh_token"] == 0 {
		t.Errorf("the life was not as it should have been: %v", counts)
	}

	database := dump(t, w.database)
	places := map[string]string{
		"the log": w.s.stderr.text(), "the replica's log": replica.stderr.text(),
		"standard output": w.s.stdout.text(), "the replica's standard output": replica.stdout.text(),
	}
	for table, rows := range database {
		places["the table "+table] = rows
	}
	for _, value := range own {
		lookFor(t, value, "a secret of ours", places)
	}
	for where, text := range seen.seen {
		places[where] = text
	}
	for kind, values := range w.as.issued() {
		for _, value := range values {
			lookFor(t, value, kind, places)
		}
	}
	lookFor(t, "sekret-client-secret", "configured secret", places)

	if !strings.Contains(database["public.credentials"], "ann@example.com") || !strings.Contains(database["public.oauth_flows"], "state_hash") ||
		!strings.Contains(database["public.river_job"], "args") {
		t.Error("the dump lacks rows: the sweep shows nothing")
	}
	if !strings.Contains(places["the log"], `"route":"/oauth/callback"`) || !strings.Contains(places["the replica's log"], `"route":"/connectors/{id}/sync_tools"`) {
		t.Error("the logs lack requests: the sweep shows nothing")
	}
}

// lookFor finds a secret as it is, and as it would stand in a bytea, in base64 or in a URL.
func lookFor(t *testing.T, value, what string, places map[string]string) {
	t.Helper()
	if len(value) < 16 {
		t.Fatalf("%s %q is too short to look for", what, value)
	}
	forms := []string{
		value, hex.EncodeToString([]byte(value)), url.QueryEscape(value),
		strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(value)), "="),
	}
	for where, text := range places {
		if slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(text, form) }) {
			t.Errorf("%s holds %s", where, what)
		}
	}
}

// syncFor syncs with an agent's credential, whatever comes of it.
func (w *connecting) syncFor(agent string, c client) {
	w.t.Helper()
	c.call(http.MethodPost, "/connectors/notes/sync_tools", object{"agent": agent})
}

// cookies are the values that a visitor's browser holds for us.
func (w *connecting) cookies(v *visitor) []string {
	w.t.Helper()
	base, err := url.Parse(w.s.base)
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, cookie := range v.client.Jar.Cookies(base) {
		all = append(all, cookie.Value)
	}
	if len(all) == 0 {
		w.t.Error("the visitor has no cookie of ours")
	}
	return all
}

// configured makes a connector with a client of the admin's own.
func (w *connecting) configured() {
	w.t.Helper()
	auth := object{"type": "oauth2", "client_id": "own", "client_secret": "sekret-client-secret"}
	w.c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Own", "url": w.as.Origin + "/mcp", "auth": auth})
	w.c.call(http.MethodPost, "/api/v1/connectors/own/connect", object{})
	w.c.call(http.MethodPatch, "/api/v1/connectors/own", object{"auth": object{"client_secret": "sekret-client-secret"}})
}

// readAllPages reads every page and list that shows a connection.
func (w *connecting) readAllPages(owner *person) {
	w.t.Helper()
	for _, slug := range []string{"notes", "own"} {
		for _, of := range []string{"", "/tools", "/credentials", "/sync_runs"} {
			w.c.call(http.MethodGet, "/api/v1/connectors/"+slug+of, nil)
		}
		for _, of := range []string{"", "/tools", "/credentials", "/runs", "/settings"} {
			owner.get(w.s.base + "/connectors/" + slug + of)
		}
		owner.post(w.s.base+"/connectors/"+slug+"/diagnose", nil)
	}
	for _, page := range []string{"/connectors", "/agents/ann", "/tools", "/settings"} {
		owner.get(w.s.base + page)
	}
	w.c.call(http.MethodGet, "/api/v1/agents/ann/mcp_config", nil)
	w.c.call(http.MethodDelete, "/api/v1/connectors/notes/agents/bob/credential", nil)
}
