package admin_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestHome_EmptyInstallation(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.signInAsRole(connectors.RoleAdmin).get("/").want(t, http.StatusOK,
		"Welcome to Patchbay", `href="/catalog"`, `href="/connectors/import"`, `href="/connectors/new"`)
	p := d.signInAsRole(connectors.RoleMember).get("/")
	p.want(t, http.StatusOK, "No connectors yet", "Admins can add MCP servers. Their activity appears here.")
	if p.says("/connectors/new") {
		t.Error("a member is sent where members may not go")
	}
}

// createNeeds creates one of each thing that needs a person.
func (d *dashboard) createNeeds() {
	d.t.Helper()
	a, c := d.Agent(d.t), d.addConnectorAt("Linear", "https://linear.example.com/mcp")
	d.Synced(d.t, c.ID, "search")
	d.Resynced(d.t, c.ID, fixture.DefinitionOf("search", evilTool))
	d.createWaitingCall(d.Tenant, a, c)
	d.Connector(d.t, func(n *connectors.Draft) { n.Name, n.Slug, n.Auth.Type = "Sentry", "sentry", connectors.AuthOAuth2 })
	down := d.addConnectorAt("Stripe", "https://stripe.example.com/mcp")
	d.failSyncs(down.ID, "timeout")
	notes := d.addOAuthConnector(func(n *connectors.Draft) { n.Name, n.Slug = "Notion", "notion" })
	d.storeAccount(notes, nil, 5*time.Hour)
	var ended []store.OwnedCall
	for i, took := range []time.Duration{80 * time.Millisecond, 120 * time.Millisecond, 150 * time.Millisecond, 900 * time.Millisecond} {
		call := newCall(a, c, connectors.CallSuccess)
		call.Outcome, call.Duration = connectors.OutcomeOK, took
		if i == 3 {
			call.Status, call.Outcome = connectors.CallError, connectors.OutcomeToolError
		}
		for ago := range 40 {
			call.ID, call.CompletedAt = newCallID(), new(time.Now().Add(-time.Duration(ago*ago)*time.Minute))
			ended = append(ended, store.OwnedCall{Tenant: d.Tenant, ToolCall: call})
		}
	}
	if err := d.St.System().Calls().EndCalls(d.t.Context(), ended); err != nil {
		d.t.Fatal(err)
	}
}

func TestHome_ListsNeedsWithOneAction(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.createNeeds()
	p := d.signInAsRole(connectors.RoleAdmin).get("/")
	p.want(t, http.StatusOK,
		"Calls waiting for approval", `aria-label="Review call: search"`,
		"Connectors need authorization", `href="/connectors/sentry/credentials#credential-shared"`, `aria-label="Connect: Sentry"`,
		"Failing connectors", `aria-label="See why: Stripe"`, "The server didn't answer within 30 seconds.",
		"Expiring accounts", `href="/connectors/notion/credentials#credential-shared"`, "in 5 hours",
		"Changed tools to review", `href="/connectors/linear/tools/search/changes"`, `aria-label="Review change: search"`,
	)
	for _, label := range []string{`aria-label="Review call: search"`, `aria-label="Review change: search"`} {
		if n := strings.Count(p.Body, label); n != 1 {
			t.Errorf("%d links with %s, want 1", n, label)
		}
	}
	order := []string{"Calls waiting for approval", "need authorization", "Failing connectors", "Expiring accounts", "tools to review"}
	for i := range order[1:] {
		if strings.Index(p.Body, order[i]) > strings.Index(p.Body, order[i+1]) {
			t.Errorf("%q stands below %q", order[i], order[i+1])
		}
	}
	viewer := d.signInAsRole(connectors.RoleViewer).get("/")
	viewer.want(t, http.StatusOK, `aria-label="Open: Sentry"`, `href="/connectors/sentry"`, `aria-label="Open call: search"`, `aria-label="Open change: search"`)
	for _, not := range []string{"Connect:", "Review call", "Review change", "Reconnect:", "/credentials"} {
		if viewer.says(not) {
			t.Errorf("a viewer is offered %q", not)
		}
	}
}

func TestHomeDrawsHowThingsGo(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.createNeeds()
	b := d.signInAsRole(connectors.RoleViewer)
	b.get("/").want(t, http.StatusOK, "Last 24 hours", "25 %", "of 152", "Errors, last 24 hours: 38 of 152 calls, 25 %.",
		"Latency, last 24 hours: p95 989 ms, median 128 ms.", "Tools: 1, after 1", `aria-current="page">24 hours`)
	b.get("/?period=7d").want(t, http.StatusOK, "Last 7 days", "Calls, last 7 days: 160.", `aria-current="page">7 days`)
}

func TestHome_NeedsArriveLive(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a, c := d.Agent(t), d.addConnectorAt("Linear", "https://linear.example.com/mcp")
	s := d.signInAsRole(connectors.RoleMember).openEventsAt("/events?on=home")
	s.until("Nothing needs you.")
	d.createWaitingCall(d.Tenant, a, c)
	s.until("Review call: search")
}

// An access request needs only roles that decide it.
func TestHome_AccessRequestsNeedDeciders(t *testing.T) {
	t.Parallel()
	d, _ := newAskedDashboard(t)
	member := d.signInAsRole(connectors.RoleMember)
	member.submit("/access/request", askForm()).want(t, http.StatusOK, "Request sent.")
	badge := "<title>(1) "
	d.signInAsRole(connectors.RoleAdmin).get("/").want(t, http.StatusOK, "Review request", badge)
	if p := member.get("/notices"); p.says("Access requests") || p.says(badge) {
		t.Error("a request that an admin decides needs a member")
	}
	if p := member.get("/"); !p.says("Nothing needs you.") || p.says(badge) {
		t.Errorf("a request that an admin decides needs a member:\n%s", plainText(p.Body))
	}
	s := member.openEventsAt("/events?on=home")
	s.until("Nothing needs you.")
}
