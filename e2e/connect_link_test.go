//go:build e2e

package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/testing/browser"
)

// TestALinkConnectsAnAgentsAccountInTheBrowser sends a link to a person without a dashboard account. Its pages
// must be accessible and fit a phone.
func TestALinkConnectsAnAgentsAccountInTheBrowser(t *testing.T) {
	t.Parallel()
	w := newConnecting(t)
	tab := browser.Open(t)
	look := newLooker(t, tab)
	w.connector("/mcp", "ann", "bob")
	link := w.link("ann")

	tab.Go(link)
	tab.WaitText("main", "Notes")
	tab.WaitText("main", "ann")
	tab.WaitText("main", "localhost")
	look.at("connect")
	tab.Click("main form button[type=submit]")
	w.as.agree(tab, "ann@example.com")
	tab.WaitPath("/connect/done")
	tab.WaitText("main", "Connected “Notes” as ")
	tab.WaitText("main", "Discovered ")
	look.at("connect-done")

	names := w.c.tools("notes")
	if len(names) == 0 {
		t.Error("no tools")
	}
	w.wantRun("ann", len(names))
	credential := w.credential("ann")
	if credential["account"] != "ann@example.com" || credential["status"] != "active" || credential["error"] != nil {
		t.Errorf("the credential: %v", credential)
	}
	if scopes, _ := credential["scopes"].([]any); len(scopes) == 0 {
		t.Errorf("the credential names no scopes: %v", credential)
	}
	text, _ := credential["expires_at"].(string)
	if at, err := time.Parse(time.RFC3339, text); err != nil || time.Until(at) < 50*time.Minute {
		t.Errorf("it expires at %q", text)
	}
	if runs := w.as.counts(); runs["registration_refused"] > 1 || len(w.as.issued()["client_secret"]) != 1 {
		t.Errorf("registrations: %v", runs)
	}

	w.connect("bob", "bob@example.com")
	if account := w.credential("bob")["account"]; account != "bob@example.com" {
		t.Errorf("bob is %v", account)
	}
	if n := len(w.as.issued()["client_secret"]); n != 1 {
		t.Errorf("%d registrations for one tenant", n)
	}

	again := w.visitor().open(link)
	if again.shown.status < 400 || !strings.Contains(again.shown.body, "link") {
		t.Errorf("the used link answers %d: %s", again.shown.status, again.shown.body)
	}
	look.tab.Go(link)
	look.at("connect-used")
	look.tab.Forgive("404")
	look.tab.Forgive("410")
}

// wantRun looks for the run that the callback started, with the agent's credential.
func (w *connecting) wantRun(agent string, tools int) {
	w.t.Helper()
	id := w.c.must(http.StatusOK, http.MethodGet, "/api/v1/agents/"+agent, nil)["id"]
	items, _ := w.c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors/notes/sync_runs", nil)["items"].([]any)
	if len(items) != 1 {
		w.t.Fatalf("%d runs, want one: %v", len(items), items)
	}
	if run, _ := items[0].(object); run["trigger"] != "oauth" || run["agent_id"] != id || run["status"] != "ok" || run["tools_total"] != float64(tools) {
		w.t.Errorf("the run is %v", run)
	}
}

func TestALinkThatIsDeniedConnectsNothing(t *testing.T) {
	t.Parallel()
	w := newConnecting(t)
	w.connector("/mcp")
	v := w.visitor().follow(w.link("")).deny("ann@example.com")
	if v.shown.status >= 500 || strings.Contains(v.shown.body, "REFLECTED") || strings.Contains(v.shown.body, "Discovered") {
		t.Errorf("a refusal ends at %s: %d %s", v.at.Path, v.shown.status, v.shown.body)
	}
	w.c.must(http.StatusConflict, http.MethodPost, "/connectors/notes/sync_tools", nil)
	if n := w.as.tokenRequests(); n != 0 {
		t.Errorf("%d token requests", n)
	}
}
