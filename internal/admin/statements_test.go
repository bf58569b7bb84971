package admin_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/htmlcheck"
)

// An agent that never called is not said to use its tools.
func TestUnusedTools_AgentWithoutCallsUsesNone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addConnectorWithEffects("Linear", 1)
	a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Silent", "silent" })
	d.Grant(t, a.ID, c.ID)
	b := d.signInAsRole(connectors.RoleViewer)
	young := b.get("/agents/silent/unused?part=summary")
	young.want(t, http.StatusOK, "Too early to tell")
	d.Age(t, c.ID, 40*24*time.Hour)
	old := b.get("/agents/silent/unused?part=summary")
	old.want(t, http.StatusOK, "4 of 4 tools unused in 30 days", `data-state="warn"`)
	if young.says("No unused tools") || old.says("No unused tools") {
		t.Error("the page says that all tools are used")
	}
}

// A share of a few calls says nothing.
func TestHome_OneFailedCallIsNotAShare(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a, c := d.Agent(t), d.addConnectorAt("Linear", "https://linear.example.com/mcp")
	call := newCall(a, c, connectors.CallError)
	call.Outcome = connectors.OutcomeToolError
	d.createEndedCall(d.Tenant, call)
	p := d.signInAsRole(connectors.RoleViewer).get("/")
	p.want(t, http.StatusOK, "Errors, last 24 hours: 1 of 1 call.", "under 1 per hour")
	if p.says("100 %") || p.says("0 per hour") {
		t.Error("one call is given as a share or a rate")
	}
	if lines := htmlcheck.Parse(t, p.Body).All("path"); !slices.ContainsFunc(lines, func(e htmlcheck.Element) bool {
		return e.Attr("class") == "spark-line" && strings.Count(e.Attr("d"), "L") > 1
	}) {
		t.Error("no figure has a line")
	}
}

// Calls after the last verification are counted as not verified.
func TestAudit_CallsAfterTheLastVerificationAreCounted(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.submit("/audit/verify", nil).want(t, http.StatusOK, "All entries intact")
	d.OldCalls(t, d.Connector(t), "search", 1, 3)
	b.get("/audit").want(t, http.StatusOK, "3 newer calls not verified yet")
}

// Connector, agent, webhook and tool are disabled and enabled by the same control, which changes nothing else.
func TestEnabled_OneControlForAll(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addConnectorWithEffects("Linear", 1)
	d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug, a.Description = "Support", "support", "Answers mail." })
	b := d.signInAsRole(connectors.RoleAdmin)
	b.submit("/connectors/linear/tools/list_thing_0/curate", url.Values{"alias": {"list"}})
	hook := b.post("/webhooks", url.Values{"name": {"Ops"}, "url": {"http://127.0.0.1:9/hook"}, "format": {"slack"}, "events": {"all"}}).Location
	for page, row := range map[string]struct{ action, name string }{
		"/connectors/linear/settings":           {"/connectors/linear/enabled", c.Name},
		"/agents/support/settings":              {"/agents/support", "Support"},
		"/connectors/linear/tools/list_thing_0": {"/connectors/linear/tools/list_thing_0/curate", "list_thing_0"},
		hook:                                    {hook, "Ops"},
	} {
		if !strings.Contains(b.get(page).Body, `id="disable"`) {
			t.Errorf("%s has no control", page)
		}
		b.submit(row.action, url.Values{"enabled": {"false"}}).want(t, http.StatusOK, "Disabled “"+row.name+"”.", "Undo")
		if p := b.get(page); strings.Contains(p.Body, `id="disable"`) || !p.says("Enable") {
			t.Errorf("%s is not disabled", page)
		}
		b.submit(row.action, url.Values{"enabled": {"true"}}).want(t, http.StatusOK, "Enabled “"+row.name+"”.")
	}
	a, err := d.Door().Agents().Get(t.Context(), "support")
	if err != nil || a.Description != "Answers mail." || !a.Enabled {
		t.Errorf("%+v, %v", a, err)
	}
	tool, err := d.Door().Tools().Get(t.Context(), c.ID, "list_thing_0")
	if err != nil || tool.Alias != "list" || !tool.Enabled {
		t.Errorf("%+v, %v", tool, err)
	}
}
