package admin_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolcall"
)

const askSearchPath = "/access/request?agent=support&connector=linear&tool=search"

// newAskedDashboard has an agent without access to a connector that works.
func newAskedDashboard(t *testing.T) (*dashboard, connectors.Agent) {
	t.Helper()
	d := newDashboard(t)
	d.addUngrantedServer(readOnlySearch)
	return d, d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" }, trustAgent)
}

func askForm(values ...string) url.Values {
	f := url.Values{"agent": {"support"}, "connector": {"linear"}, "all": {"false"}, "tool": {"search"}, "reason": {"For the report."}, "until": {"168h"}}
	for i := 0; i < len(values); i += 2 {
		f.Set(values[i], values[i+1])
	}
	return f
}

// callSearch calls the tool as the agent; isGranted is false if it has no access to the connector.
func (d *dashboard) callSearch() (isGranted bool) {
	d.t.Helper()
	view, err := d.access.LoadUncached(d.t.Context(), d.Tenant, "support")
	if err != nil {
		d.t.Fatal(err)
	}
	reach := view.Connector("linear")
	if reach == nil {
		return false
	}
	if _, err := d.calls.Call(d.t.Context(), toolcall.CallRequest{
		View: view, Tool: reach.Tool("search"), Arguments: []byte(`{"q":"x"}`), Source: connectors.SourceGateway,
	}); err != nil {
		d.t.Fatal(err)
	}
	return true
}

func TestAccessRequest_AcceptedOnItsPage(t *testing.T) {
	t.Parallel()
	d, a := newAskedDashboard(t)
	member, admin := d.signInAsRole(connectors.RoleMember), d.signInAsRole(connectors.RoleAdmin)
	member.get("/agents/support/tools/mcp_linear__search").want(t, http.StatusOK, "Ask for access", "/access/request?agent=support&connector=linear&tool=search")
	member.get(askSearchPath).want(t, http.StatusOK, "Support → Linear", `value="search" checked`, "Send request", "After 7 days")
	member.get("/access/request").want(t, http.StatusOK, "Continue", "Support", "Linear")
	member.post("/access/request", askForm("reason", "")).want(t, http.StatusUnprocessableEntity, "Must be 1–1000 characters.", `value="search" checked`)
	member.post("/access/request", askForm("until", "custom")).want(t, http.StatusUnprocessableEntity, "Enter a date and time like 2027-01-31T18:00.")
	member.post("/access/request", askForm("until", "7")).want(t, http.StatusUnprocessableEntity, "Choose one of the listed values.")
	if d.callSearch() {
		t.Fatal("the agent has access already")
	}
	sent := member.submit("/access/request", askForm())
	sent.want(t, http.StatusOK, "Request sent.", "Waiting for a decision", "For the report.", "Withdraw request")
	if sent.says("Decision") {
		t.Error("a member is offered to decide")
	}
	path := "/access/requests/" + between(admin.get("/access/requests").Body, `href="/access/requests/`, `"`)
	admin.get("/notices").want(t, http.StatusOK, path)
	admin.get(path).want(t, http.StatusOK, "Accept", "Refuse", "read-only", "No access yet.", "Before", "search · ends", "As asked: in 7 days")
	member.post(path+"/accept", nil).want(t, http.StatusForbidden)
	admin.post(path+"/accept", url.Values{"until": {"custom"}, "until_at": {"2001-01-01T00:00"}}).want(t, http.StatusUnprocessableEntity, "This end has passed.")
	admin.submit(path+"/accept", url.Values{"until": {"asked"}, "note": {"Until then."}}).want(t, http.StatusOK, "Accepted. “Support” can use it now.", "Until then.")
	if !d.callSearch() {
		t.Error("the agent still has no access")
	}
	grants, err := d.Door().Agents().Grant(t.Context(), a.ID, d.addLinear())
	if err != nil || grants.Ends == nil || grants.Ends.Until == nil || time.Until(*grants.Ends.Until) > 7*24*time.Hour {
		t.Errorf("granted %+v (%v), want search up to 7 days", grants.Grant, err)
	}
	admin.submit(path+"/refuse", nil).want(t, http.StatusOK, "This request was already decided or withdrawn.")
	admin.get("/access/requests").want(t, http.StatusOK, "No requests")
	admin.get("/access/requests?state=accepted").want(t, http.StatusOK, "1 request", path)
	member.post("/access/request", askForm("until", "24h")).want(t, http.StatusConflict, "The agent has this access already.")
}

// The pages that refusals name are filled in, whatever names the agent: its id, and the tool as the agent sees it.
func TestAccessAsk_FilledInFromRefusal(t *testing.T) {
	t.Parallel()
	d, a := newAskedDashboard(t)
	member, agent := d.signInAsRole(connectors.RoleMember), "/access/request?agent="+a.ID.String()
	for query, checked := range map[string]string{
		"&connector=linear&tool=search": `value="search" checked`, "&name=mcp_linear__search": `value="search" checked`,
		"&connector=linear": `name="all" value="true" checked`, "&name=mcp_linear__absent": `name="all" value="false" checked`,
	} {
		member.get(agent+query).want(t, http.StatusOK, "Support → Linear", `name="agent" value="support"`, checked)
	}
	for _, query := range []string{"&name=mcp_absent__search", "&connector=absent", "&name=nothing"} {
		member.get(agent+query).want(t, http.StatusOK, "Continue", `value="support" selected`)
	}
	member.get("/access/request?agent=absent&name=mcp_linear__search").want(t, http.StatusOK, "Continue")
}

func TestAccessRequest_WithdrawnOrRefused(t *testing.T) {
	t.Parallel()
	d, _ := newAskedDashboard(t)
	member, admin := d.signInAsRole(connectors.RoleMember), d.signInAsRole(connectors.RoleAdmin)
	send := func() string {
		t.Helper()
		p := member.post("/access/request", askForm())
		if p.Status != http.StatusSeeOther {
			t.Fatalf("%d\n%s", p.Status, plainText(p.Body))
		}
		return p.Location
	}
	path := send()
	admin.submit(path+"/withdraw", nil).want(t, http.StatusOK, "can withdraw this request. Refuse it instead.")
	member.submit(path+"/withdraw", nil).want(t, http.StatusOK, "Request withdrawn.", "Withdrawn")
	path = send()
	admin.submit(path+"/refuse", url.Values{"note": {"Ask for another one."}, "until": {"asked"}}).want(t, http.StatusOK, "Refused.", "Ask for another one.")
	member.get(path).want(t, http.StatusOK, "Refused", "Ask for another one.", "Decided by")
	if d.callSearch() {
		t.Error("the agent has access without an accepted request")
	}
}

// A broad grant asks the same question as on the grant's page.
func TestAccessRequest_BroadGrantIsAsked(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	d.Resynced(t, c.ID, fixture.DefinitionOf("delete", `{"name":"delete","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}`))
	d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	admin := d.signInAsRole(connectors.RoleAdmin)
	path := d.signInAsRole(connectors.RoleMember).post("/access/request", askForm("all", "true", "until", "")).Location
	p := admin.post(path+"/accept", url.Values{"until": {"asked"}, "note": {"Fine."}})
	p.want(t, http.StatusUnprocessableEntity, "Grant “Support” all tools of “Linear”?", "1 of them is destructive.", `name="note" value="Fine."`)
	admin.get(path).want(t, http.StatusOK, "Waiting for a decision")
	admin.submit(path+"/accept", url.Values{"until": {"asked"}, "note": {"Fine."}, "sure": {"yes"}}).want(t, http.StatusOK, "Accepted.", "Fine.")
}

// All tools of a grant that has ended are granted again only after the same question.
func TestEndedGrant_BroadAgainIsAsked(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	d.Resynced(t, c.ID, fixture.DefinitionOf("delete", `{"name":"delete","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}`))
	a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	past := time.Now().Add(-time.Hour)
	d.Grant(t, a.ID, c.ID, func(g *connectors.Grant) { g.Ends = &connectors.GrantEnds{Until: &past} })
	admin := d.signInAsRole(connectors.RoleAdmin)
	path := d.signInAsRole(connectors.RoleMember).post("/access/request", askForm("all", "true")).Location
	for name, p := range map[string]page{
		"a request": admin.post(path+"/accept", url.Values{"until": {"asked"}}),
		"the bar":   admin.post("/agents/support/access", url.Values{"do": {"grant"}, "connector": {"linear"}}),
	} {
		if p.Status != http.StatusUnprocessableEntity || !p.says("destructive.") {
			t.Errorf("%s: %d\n%s", name, p.Status, plainText(p.Body))
		}
	}
	admin.submit("/agents/support/access", url.Values{"do": {"grant"}, "connector": {"linear"}, "sure": {"yes"}}).want(t, http.StatusOK, "Access to 1 connector changed.")
	if g, err := d.Door().Agents().Grant(t.Context(), a.ID, c.ID); err != nil || g.Until() != nil || !g.AllTools {
		t.Errorf("granted %+v, %v", g.Grant, err)
	}
}

// Open requests are on the home page of those that decide, and the request and its answer are on the asker's.
func TestHome_ShowsRequestsAndAnswers(t *testing.T) {
	t.Parallel()
	d, _ := newAskedDashboard(t)
	asker, other, admin := d.signInAsRole(connectors.RoleMember), d.signInAsRole(connectors.RoleMember), d.signInAsRole(connectors.RoleAdmin)
	path := asker.post("/access/request", askForm()).Location
	admin.get("/").want(t, http.StatusOK, "Access requests", "asks for Support", "Review request", path)
	asker.get("/").want(t, http.StatusOK, "Nothing needs you.", "Your access requests", "Waiting for a decision", "Open request", path)
	admin.submit(path+"/accept", url.Values{"until": {"asked"}, "note": {"Until then."}}).want(t, http.StatusOK, "Accepted.")
	if p := admin.get("/"); p.says("Review request") || p.says("Your access requests") {
		t.Errorf("the decided request stays:\n%s", plainText(p.Body))
	}
	asker.get("/").want(t, http.StatusOK, "Your access requests", "Support → Linear", "Accepted by", "Until then.", path)
	if p := other.get("/"); p.says("Your access requests") || p.says(path) {
		t.Error("another member is shown the answer")
	}
	asker.submit("/access/request", askForm("until", "720h")).want(t, http.StatusOK, "Request sent.")
	d.AsSystem(t, "update access_requests set decided_at = now() - interval '8 days' where decided_at is not null", nil)
	if p := asker.get("/"); p.says("Accepted by") {
		t.Error("an answer of last week is shown")
	}
}

func TestAccessRequest_OtherTenantNotFound(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	foreign := d.createThings(d.Other)
	admin := d.signInAsRole(connectors.RoleAdmin)
	path := "/access/requests/" + foreign.request
	admin.get(path).want(t, http.StatusNotFound)
	for _, action := range []string{"accept", "refuse", "withdraw"} {
		admin.post(path+"/"+action, nil).want(t, http.StatusNotFound)
	}
	admin.get("/access/requests?state=all").want(t, http.StatusOK, "No requests")
}

func TestRefusedCall_OffersToAsk(t *testing.T) {
	t.Parallel()
	d, a := newAskedDashboard(t)
	call := newCall(a, d.findConnector("linear"), connectors.CallError)
	call.Outcome, call.ErrorCode, call.Tool = connectors.OutcomeRefused, string(toolcall.CodeNotGranted), "search"
	id := d.createEndedCall(d.Tenant, call)
	d.signInAsRole(connectors.RoleMember).get("/calls/"+id.String()).want(t, http.StatusOK, "Ask for access", askSearchPath)
	if p := d.signInAsRole(connectors.RoleViewer).get("/calls/" + id.String()); p.says("Ask for access") {
		t.Error("a viewer is offered to ask")
	}
}
