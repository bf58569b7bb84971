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
	p.want(t, http.StatusOK, "No connectors yet", "An admin of your organisation")
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
	notes := d.addOAuthConnector(func(n *connectors.Draft) { n.Name, n.Slug = "Notes", "notes" })
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
		"Calls wait for approval", `aria-label="Decide: search"`,
		"Connectors need authorization", `href="/connectors/sentry/credentials#credential-shared"`, `aria-label="Connect: Sentry"`,
		"Connectors fail", `aria-label="See why: Stripe"`, "The server did not answer within 30 seconds.",
		"Accounts lapse within 72 hours", `href="/connectors/notes/credentials#credential-shared"`, "in 4 hours",
		"Changed tools wait", `href="/connectors/linear/tools/search/changes"`, `aria-label="Review: search"`,
	)
	order := []string{"Calls wait", "need authorization", "Connectors fail", "lapse within", "tools wait"}
	for i := range order[1:] {
		if strings.Index(p.Body, order[i]) > strings.Index(p.Body, order[i+1]) {
			t.Errorf("%q stands below %q", order[i], order[i+1])
		}
	}
	viewer := d.signInAsRole(connectors.RoleViewer).get("/")
	viewer.want(t, http.StatusOK, `aria-label="Look: Sentry"`, `href="/connectors/sentry"`, `aria-label="Look: search"`)
	for _, not := range []string{"Decide:", "Connect:", "Review:", "Reconnect:", "/credentials"} {
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
	b.get("/").want(t, http.StatusOK, "Last 24 hours", "25 %", "of 152", "Errors in the last 24 hours: 38 of 152 calls, 25 %.",
		"95 of 100 calls took at most", "Tools: 1, after 1", `aria-current="page">24 hours`)
	b.get("/?period=7d").want(t, http.StatusOK, "Last 7 days", "Calls in the last 7 days: 160.", `aria-current="page">7 days`)
}

func TestHome_NeedsArriveLive(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a, c := d.Agent(t), d.addConnectorAt("Linear", "https://linear.example.com/mcp")
	s := d.signInAsRole(connectors.RoleMember).openEventsAt("/events?on=home")
	s.until("Nothing waits for a person.")
	d.createWaitingCall(d.Tenant, a, c)
	s.until("Decide: search")
}
