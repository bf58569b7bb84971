package admin_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/testing/htmlcheck"
)

// createUnusedTools grants the agent Support the tools of two connectors long ago, and calls of a few.
func (d *dashboard) createUnusedTools() connectors.Agent {
	d.t.Helper()
	linear, github := d.addConnectorWithEffects("Linear", 3), d.addConnectorWithEffects("GitHub", 1)
	a := d.Agent(d.t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	d.Grant(d.t, a.ID, linear.ID)
	d.Grant(d.t, a.ID, github.ID, fixture.Named("list_thing_0", "create_thing_0"))
	d.Age(d.t, linear.ID, 40*24*time.Hour)
	d.Age(d.t, github.ID, 10*24*time.Hour)
	for _, tool := range []string{"list_thing_0", "create_thing_0", "delete_thing_0"} {
		call := newCall(a, linear, connectors.CallSuccess)
		call.Tool = tool
		d.createEndedCall(d.Tenant, call)
	}
	return a
}

func TestUnusedTools_AreReviewedAndRemoved(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a := d.createUnusedTools()
	_, linear := d.findAgentAndConnector("support", "linear")
	_, github := d.findAgentAndConnector("support", "github")
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get("/agents/support/tools").want(t, http.StatusOK, "Unused tools", "Review", "Context size, OpenAI", "Context size, Anthropic", "Context size, Google", "≈")
	part := b.get("/agents/support/unused?part=summary")
	part.want(t, http.StatusOK, "9 of 14 tools unused in 30 days", "Removing them saves about 608 tokens per request (OpenAI, estimated).", "Review")
	if strings.Contains(part.Body, "<html") {
		t.Error("the part is a whole page")
	}
	p := b.get("/agents/support/unused")
	p.want(t, http.StatusOK, "9 of 12 tools, about", "Too early to tell for 2 tools", "If you remove any, access is limited to the other current tools.", "Account scopes aren't checked")
	names, _ := checkedTools(t, p)
	if len(names) != 9 || slices.Contains(names, "linear/list_thing_0") || !slices.Contains(names, "linear/list_thing_1") {
		t.Errorf("ticked: %v", names)
	}
	b.get("/agents/support/unused?days=7&provider=anthropic").want(t, http.StatusOK, "11 of 14 tools unused in 7 days", "Anthropic", "its tokenizer isn't published.")
	if _, err := d.Door().Agents().Grant(t.Context(), a.ID, linear.ID); err != nil {
		t.Fatal(err)
	}
	d.wantGrant(connectors.Grant{AgentID: a.ID, ConnectorID: linear.ID, AllTools: true}) // the review alone removes nothing

	chosen := url.Values{"tool": {"linear/list_thing_1", "linear/guess_thing_2", "github/create_thing_0"}}
	b.submit("/agents/support/unused", chosen).want(t, http.StatusOK, "Removed 3 tools of 2 connectors.", "11 tools")
	d.wantGrant(connectors.Grant{AgentID: a.ID, ConnectorID: github.ID, Tools: []string{"list_thing_0"}})
	left, err := d.Door().Agents().Grant(t.Context(), a.ID, linear.ID)
	if err != nil || left.AllTools || len(left.Tools) != 10 || slices.Contains(left.Tools, "list_thing_1") {
		t.Errorf("%+v, %v", left, err)
	}
	b.submit("/agents/support/unused", nil).want(t, http.StatusOK, "No tool selected.")
	if p := b.post("/agents/support/unused", url.Values{"tool": {"nowhere/x"}}); p.Status != http.StatusNotFound {
		t.Errorf("an unknown connector: %d", p.Status)
	}
}

func TestUnusedTools_ViewerOnlyReads(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.createUnusedTools()
	b := d.signInAsRole(connectors.RoleViewer)
	p := b.get("/agents/support/unused")
	p.want(t, http.StatusOK, "9 of 14 tools")
	htmlcheck.Parse(t, p.Body).Sound(t)
	if p.says("Remove selected tools") {
		t.Error("a viewer is offered to take tools away")
	}
	fresh := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Fresh", "fresh" })
	b.get("/agents/fresh/unused").want(t, http.StatusOK, "No tools available")
	_, linear := d.findAgentAndConnector("fresh", "linear")
	d.Grant(t, fresh.ID, linear.ID)
	b.get("/agents/fresh/unused").want(t, http.StatusOK, "Too early to tell")

	once := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Once", "once" })
	if err := d.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: once.ID, ConnectorID: linear.ID, Tools: []string{"list_thing_0"}}); err != nil {
		t.Fatal(err)
	}
	call := newCall(once, linear, connectors.CallSuccess)
	call.Tool, call.Outcome = "list_thing_0", connectors.OutcomeOK
	d.createEndedCall(d.Tenant, call)
	b.get("/agents/once/unused").want(t, http.StatusOK, "No unused tools", "The agent called its 1 tool in 30 days.")
}

func TestAgentTools_SortBySize(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.createUnusedTools()
	b := d.signInAsRole(connectors.RoleViewer)
	p := b.get("/agents/support/tools?sort=size&provider=google&q=thing_0")
	p.want(t, http.StatusOK, "6 tools", "Largest first", "Estimated tokens per request to Google")
	if first, last := strings.Index(p.Body, "mcp_linear__delete_thing_0"), strings.Index(p.Body, "mcp_linear__guess_thing_0"); first < 0 || last < first {
		t.Errorf("the larger one stands at %d, the smaller at %d", first, last)
	}
}
