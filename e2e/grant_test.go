//go:build e2e

package e2e_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestAGrantThatThePersonTookBackAsksForThemOnce(t *testing.T) {
	t.Parallel()
	w := newConnecting(t)
	w.connector("/mcp")
	w.connect("", "ada@example.com")
	w.as.pull("end-grants")

	refused := w.c.must(http.StatusConflict, http.MethodPost, "/connectors/notes/sync_tools", nil)
	link, _ := refused["connect_url"].(string)
	if kind, _ := refused["type"].(string); link == "" || kind == "" {
		t.Fatalf("the refusal is %v", refused)
	}
	if credential := w.credential(""); credential["status"] != "revoked" || credential["error"] == nil {
		t.Errorf("the credential: %v", credential)
	}
	if connector := w.c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors/notes", nil); connector["status"] != "needs_auth" {
		t.Errorf("the connector: %v", connector)
	}
	asked := w.as.counts()["refresh_token"]
	again := w.c.must(http.StatusConflict, http.MethodPost, "/connectors/notes/sync_tools", nil)
	if again["connect_url"] == link {
		t.Error("two refusals carry one link")
	}
	if n := w.as.counts()["refresh_token"]; n != asked || n != 1 {
		t.Errorf("%d refreshes of a dead grant, then %d", asked, n)
	}
	if n := strings.Count(dump(t, w.database)["public.audit_events"], `"action":"credential.revoked"`); n != 1 {
		t.Errorf("%d events", n)
	}

	if v := w.visitor().follow(link).agree("ada@example.com"); v.shown.status != http.StatusOK {
		t.Fatalf("the link of the refusal ends at %s: %d %s", v.at.Path, v.shown.status, v.shown.body)
	}
	if run := w.sync(); run["status"] != "ok" {
		t.Errorf("after reconnecting: %v", run)
	}
	if credential := w.credential(""); credential["status"] != "active" || credential["error"] != nil {
		t.Errorf("the credential after reconnecting: %v", credential)
	}
}

func TestRegistration_ForgottenClientIsRenewedOnce(t *testing.T) {
	t.Parallel()
	w := newConnecting(t)
	w.connector("/mcp")
	w.as.live(2)
	w.connect("", "ada@example.com")
	w.as.live(3600)
	w.as.pull("forget-clients")
	w.expired("")

	refused := w.c.must(http.StatusConflict, http.MethodPost, "/connectors/notes/sync_tools", nil)
	link, _ := refused["connect_url"].(string)
	if v := w.visitor().follow(link).agree("ada@example.com"); v.shown.status != http.StatusOK {
		t.Fatalf("the link of the refusal ends at %s: %d %s", v.at.Path, v.shown.status, v.shown.body)
	}
	if n := len(w.as.issued()["client_secret"]); n != 2 {
		t.Errorf("%d registrations", n)
	}
	if run := w.sync(); run["status"] != "ok" {
		t.Errorf("after reconnecting: %v", run)
	}
}

func TestDisconnectingRevokesUpstream(t *testing.T) {
	t.Parallel()
	w := newConnecting(t)
	w.connector("/mcp", "ann", "bob")
	w.connect("ann", "ann@example.com")
	w.connect("bob", "bob@example.com")
	if n := w.as.counts()["live_refresh_tokens"]; n != 2 {
		t.Fatalf("%d refresh tokens are alive", n)
	}
	w.c.must(http.StatusNoContent, http.MethodDelete, "/api/v1/connectors/notes/agents/ann/credential", nil)
	if counts := w.as.counts(); counts["live_refresh_tokens"] != 1 || counts["revocation"] == 0 {
		t.Errorf("after disconnecting ann: %v", counts)
	}
	w.c.must(http.StatusConflict, http.MethodPost, "/connectors/notes/sync_tools", object{"agent": "ann"})
	w.c.must(http.StatusOK, http.MethodPost, "/connectors/notes/sync_tools", object{"agent": "bob"})
}

func TestAServerThatListsOpenlyIsSyncedWithoutAToken(t *testing.T) {
	t.Parallel()
	w := newConnecting(t)
	w.connector("/open/mcp", "ann")
	run := w.sync()
	connector := w.c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors/notes", nil)
	if run["status"] != "ok" || run["agent_id"] != nil || connector["auth_behaviour"] != "list_open" || len(w.c.tools("notes")) == 0 {
		t.Errorf("the run is %v, the connector %v", run, connector)
	}
	if n := w.as.tokenRequests(); n != 0 {
		t.Errorf("%d token requests", n)
	}
	w.connect("ann", "ann@example.com")
	if status := w.credential("ann")["status"]; status != "active" {
		t.Errorf("the credential is %v", status)
	}
}
