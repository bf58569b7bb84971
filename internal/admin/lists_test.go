package admin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/testing/htmlcheck"
)

func TestAgentList_SearchesAndShowsTrouble(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	support, billing := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support bot", "support" }), d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Billing", "billing" })
	sentry := d.Connector(t, func(c *connectors.Draft) {
		c.Name, c.Auth.Type, c.CredentialMode = "Sentry", connectors.AuthBearer, connectors.CredentialPerAgent
	})
	d.Grant(t, support.ID, sentry.ID)
	d.createToken(d.Tenant, support.ID)
	b := d.signInAsRole(connectors.RoleViewer)
	b.get("/agents").want(t, http.StatusOK, "2 agents", "Sentry: no account", "No token")
	p := b.get("/agents?q=supp&state=enabled")
	p.want(t, http.StatusOK, "1 agent", "Support bot")
	if p.says(billing.Name) {
		t.Error("the filter shows another agent")
	}
	b.get("/agents?q=nothing").want(t, http.StatusOK, "No matching agents")
	b.get("/agents?state=disabled&sort=-added").want(t, http.StatusOK, "No matching agents")
	p = b.get("/agents?state=attention")
	p.want(t, http.StatusOK, "2 agents", "Needs attention (2)", `<option value="attention" selected>`)
	d.Agent(t, func(a *connectors.Agent) { a.Name, a.Enabled = "Off", false })
	b.get("/agents").want(t, http.StatusOK, "3 agents", "Needs attention (2)")
	b.get("/agents?state=attention&q=bill").want(t, http.StatusOK, "1 agent", "Billing", "Needs attention (2)")
}

func TestPagedList_LeadsBackAndSaysWhere(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	for i := range 60 {
		d.addConnectorAt(fmt.Sprintf("Server %02d", i), "https://mcp.example.com/mcp")
	}
	b := d.signInAsRole(connectors.RoleViewer)
	first := b.get("/connectors?size=25")
	first.want(t, http.StatusOK, "1–25 of 60", "Server 00")
	second := b.get(first.link(t, `rel="next"`))
	second.want(t, http.StatusOK, "26–50 of 60", "Server 30", "Previous page")
	third := b.get(second.link(t, `rel="next"`))
	third.want(t, http.StatusOK, "51–60 of 60", "Server 55", "First page")
	b.get(third.link(t, `rel="prev"`)).want(t, http.StatusOK, "26–50 of 60", "Server 30")
}

// link is the address of the first link with an attribute.
func (p page) link(t *testing.T, attribute string) string {
	t.Helper()
	_, rest, found := strings.Cut(p.Body, attribute+` href="`)
	address, _, _ := strings.Cut(rest, `"`)
	if !found {
		t.Fatalf("there is no link with %s", attribute)
	}
	return strings.ReplaceAll(address, "&amp;", "&")
}

func TestConnectorList_ChangesSeveral(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	for _, name := range []string{"Linear", "Sentry", "Stripe"} {
		d.addConnectorAt(name, "https://mcp.example.com/mcp")
	}
	d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	b := d.signInAsRole(connectors.RoleAdmin)
	do := func(action string, more url.Values) page {
		form := url.Values{"do": {action}, "connector": {"linear", "sentry"}}
		for name, values := range more {
			form[name] = values
		}
		return b.submit("/bulk/connectors", form)
	}
	do("tag", url.Values{"word": {"crm"}}).want(t, http.StatusOK, "2 connectors updated.", "crm")
	if p := b.get("/connectors?tag=crm"); !p.says("2 connectors") || strings.Contains(p.Body, `id="connector-stripe`) {
		t.Error("the filter by tag is wrong")
	}
	do("disable", nil).want(t, http.StatusOK, "2 connectors updated.")
	do("sync", nil).want(t, http.StatusOK, "disabled")
	do("enable", nil).want(t, http.StatusOK, "2 connectors updated.")
	do("sync", nil).want(t, http.StatusOK, "Syncing 2 connectors.")
	do("grant", nil).want(t, http.StatusOK, "Choose an agent.")
	do("grant", url.Values{"agent": {"support"}}).want(t, http.StatusOK, "Access to 2 connectors changed.")
	do("untag", url.Values{"word": {"crm"}}).want(t, http.StatusOK, "2 connectors updated.")
	b.submit("/bulk/connectors", url.Values{"do": {"sync"}}).want(t, http.StatusOK, "Select 1–500 connectors.")
	b.get("/agents/support/access?access=granted").want(t, http.StatusOK, "2 connectors", "Linear", "Sentry")
	b.get("/connectors/linear/access?access=granted").want(t, http.StatusOK, "1 agent", "Support")
	member := d.signInAsRole(connectors.RoleMember)
	member.post("/bulk/connectors", url.Values{"do": {"disable"}, "connector": {"linear"}}).want(t, http.StatusForbidden)
}

func TestAgentAccess_SetsSeveralOnOnePage(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	form := url.Values{"do": {"grant"}}
	for i := range 303 {
		c := d.addConnectorAt(fmt.Sprintf("Server %03d", i), "https://mcp.example.com/mcp")
		form.Add("connector", c.Slug)
	}
	a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get("/agents/support/access").want(t, http.StatusOK, "303 connectors", "Server 302", "Select all")
	b.submit("/agents/support/access", form).want(t, http.StatusOK, "Access to 303 connectors changed.")
	b.submit("/agents/support/access", form).want(t, http.StatusOK, "Access to 0 connectors changed.")
	one := url.Values{"do": {"approval"}, "approval": {string(connectors.ApprovalAuto)}, "connector": {"server-000", "server-001"}}
	b.post("/agents/support/access", one).want(t, http.StatusUnprocessableEntity, "Calls to 2 connectors will run without approval")
	one["sure"] = []string{"yes"}
	b.submit("/agents/support/access", one).want(t, http.StatusOK, "Access to 2 connectors changed.")
	one["do"] = []string{"remove"}
	b.submit("/agents/support/access", one).want(t, http.StatusOK, "Access to 2 connectors removed.")
	b.get("/agents/support/access?access=none").want(t, http.StatusOK, "2 connectors", "Server 000", "Server 001")
	b.submit("/agents/support/access", url.Values{"do": {"grant"}, "connector": {"server-000", "gone"}}).want(t, http.StatusNotFound)
	if granted, err := d.Door().Agents().Grant(t.Context(), a.ID, d.Connector(t).ID); err == nil {
		t.Errorf("granted: %+v", granted)
	}
	b.get("/agents/support/access?access=none&q=server+000").want(t, http.StatusOK, "1 connector") // nothing was granted by half
}

func TestBroadGrants_AskOnce(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	destructive := fixture.DefinitionOf("wipe", `{"name":"wipe","annotations":{"destructiveHint":true}}`)
	for _, name := range []string{"Linear", "Notes"} {
		c := d.Connector(t, func(c *connectors.Draft) { c.Name, c.Slug = name, strings.ToLower(name) })
		d.Resynced(t, c.ID, destructive, fixture.DefinitionOf("look", `{"name":"look","annotations":{"destructiveHint":true,"readOnlyHint":true}}`))
	}
	long := fixture.DefinitionOf("purge", `{"name":"purge","description":"`+strings.Repeat("x", 20_000)+`","annotations":{"destructiveHint":true}}`)
	big := d.Connector(t, func(c *connectors.Draft) { c.Name, c.Slug = "Big", "big" })
	d.Resynced(t, big.ID, long)
	calm := d.Connector(t, func(c *connectors.Draft) { c.Name, c.Slug = "Calm", "calm" })
	d.Synced(t, calm.ID, "look")
	linear, err := d.Door().Connectors().Get(t.Context(), "linear")
	if err != nil {
		t.Fatal(err)
	}
	a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	auto := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug, a.Approval = "Auto", "auto", connectors.ApprovalAuto })
	d.Grant(t, auto.ID, calm.ID, func(g *connectors.Grant) { g.Approval = new(connectors.ApprovalAlwaysAsk) })
	b := d.signInAsRole(connectors.RoleAdmin)
	for name, tc := range map[string]struct {
		path  string
		form  url.Values
		asked string
	}{
		"bar of connectors":     {"/bulk/connectors", url.Values{"do": {"grant"}, "agent": {"support"}, "connector": {"linear", "notes", "calm"}}, "2 of them are destructive."},
		"ids":                   {"/bulk/connectors", url.Values{"do": {"grant"}, "agent": {a.ID.String()}, "connector": {linear.ID.String()}}, "1 of them is destructive."},
		"upper case id, spaces": {"/bulk/connectors", url.Values{"do": {" grant "}, "agent": {strings.ToUpper(a.ID.String())}, "connector": {strings.ToUpper(linear.ID.String())}}, "1 of them is destructive."},
		"twice":                 {"/agents/support/access", url.Values{"do": {"grant"}, "connector": {"linear", linear.ID.String()}}, "1 of them is destructive."},
		"agent's access":        {"/agents/support/access", url.Values{"do": {"grant"}, "connector": {"notes"}}, "Notes: wipe"},
		"long definition":       {"/agents/support/access", url.Values{"do": {"grant"}, "connector": {"big"}}, "Big: purge"},
		"connector's access":    {"/connectors/linear/access", url.Values{"do": {"grant"}, "agent": {"support"}}, "Linear: wipe"},
		"empty response":        {"/connectors/linear/access", url.Values{"do": {"grant"}, "agent": {"support"}, "sure": {""}}, "Linear: wipe"},
		"the agent's own mode":  {"/agents/auto/access", url.Values{"do": {"approval"}, "approval": {""}, "connector": {"calm"}}, "Never ask for approval?"},
		"one grant, own mode":   {"/agents/auto/connectors/calm", url.Values{"all": {"true"}, "approval": {""}}, "Never ask for"},
	} {
		p := b.post(tc.path, tc.form)
		p.want(t, http.StatusUnprocessableEntity, tc.asked)
		htmlcheck.Parse(t, p.Body).Sound(t)
		if granted, err := d.Door().Agents().Grants(t.Context(), a.ID, store.Page{}); err != nil || len(granted.Items) != 0 {
			t.Fatalf("%s: %d grants before the answer, %v", name, len(granted.Items), err)
		}
	}
	b.submit("/agents/support/access", url.Values{"do": {"grant"}, "connector": {"calm"}}).want(t, http.StatusOK, "Access to 1 connector changed.")
	form := url.Values{"do": {"grant"}, "agent": {"support"}, "connector": {"linear", "notes"}, "sure": {"yes"}}
	b.submit("/bulk/connectors", form).want(t, http.StatusOK, "Access to 2 connectors changed.")
	form.Del("sure")
	b.submit("/bulk/connectors", form).want(t, http.StatusOK, "Access to 0 connectors changed.") // nothing becomes broader
}

func TestAccessMatrix_PagesBothWays(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	for i := range 25 {
		d.addConnectorAt(fmt.Sprintf("Server %02d", i), "https://mcp.example.com/mcp")
	}
	for i := range 55 {
		d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = fmt.Sprintf("Bot %02d", i), fmt.Sprintf("bot-%02d", i) })
	}
	b := d.signInAsRole(connectors.RoleAdmin)
	b.submit("/agents/bot-00/access", url.Values{"do": {"grant"}, "connector": {"server-03"}})
	p := b.get("/access")
	p.want(t, http.StatusOK, "1–50 of 55", "1–20 of 25", `aria-label="Bot 00, Server 03: All tools"`, `aria-label="Bot 01, Server 03: No access"`, `href="/agents/bot-00/connectors/server-03"`)
	b.get("/access?agents=50&connectors=20").want(t, http.StatusOK, "51–55 of 55", "21–25 of 25", "Bot 54, Server 24: No access")
	b.get("/access?agent=bot+07&connector=server+2").want(t, http.StatusOK, "Bot 07, Server 24: No access")
	b.get("/access?agent=nothing").want(t, http.StatusOK, "No matches")
}

func TestCalls_ShowNamesAndTheWaitApart(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	def := fixture.DefinitionOf("create_issue", `{"name":"create_issue","title":"Create an issue"}`)
	d.Resynced(t, c.ID, def)
	a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support bot", "support" })
	call := newCall(a, c, connectors.CallSuccess)
	call.Tool, call.Definition = "create_issue", &def.Hash
	id := d.createEndedCall(d.Tenant, call)
	d.AsOwner(t, "update tool_calls set waited_us = 90000000, duration_us = 90340000 where id = '"+id.String()+"'")
	b := d.signInAsRole(connectors.RoleViewer)
	for _, path := range []string{"/calls", "/calls/" + id.String(), "/connectors/linear/calls"} {
		p := b.get(path)
		p.want(t, http.StatusOK, "Create an issue", "create_issue", "Linear", "Support bot", "340 ms", "waited 1 min 30 s")
		if p.says("1 min 30.3 s") {
			t.Errorf("%s adds the wait to the duration", path)
		}
		htmlcheck.Parse(t, p.Body).Sound(t)
	}
	p := b.get("/calls/" + id.String())
	p.want(t, http.StatusOK, `<a href="/agents/support">Support bot</a>`, `<span class="mono quiet">support</span>`, `<a href="/connectors/linear">Linear</a>`)
}

func TestCallEvents_SendListAndChart(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	a := d.Agent(t)
	d.createEndedCall(d.Tenant, newCall(a, c, connectors.CallSuccess))
	events := d.signInAsRole(connectors.RoleViewer).openEventsAt("/events?on=calls&range=1h")
	events.until(`hx-target="#call-chart"`, "1 call, 0 errors")
	call := newCall(a, c, connectors.CallError)
	d.createEndedCall(d.Tenant, call)
	events.until(`id="call-`+call.ID.String()+`"`, "2 calls, 1 error")
}

func TestLists_SayTheirTotal(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	a := d.Agent(t)
	var defs, changed []connectors.Definition
	for i := range 30 {
		name := fmt.Sprintf("tool_%02d", i)
		defs, changed = append(defs, fixture.Definition(name)), append(changed, fixture.DefinitionOf(name, `{"name":"`+name+`","description":"Other."}`))
		d.APIKey(t, connectors.RoleViewer)
		d.Member(t, connectors.RoleViewer)
		d.createTaskCall(d.Tenant, a, c, `{"status":"working"}`)
	}
	d.Resynced(t, c.ID, defs...)
	d.Resynced(t, c.ID, changed...)
	b := d.signInAsRole(connectors.RoleOwner)
	for path, total := range map[string]string{
		"/tools": "of 30", "/connectors/linear/tools": "of 30", "/changes?state=all": "of 30", "/connectors/linear/changes": "of 30", "/tasks": "of 30", "/api-keys": "of 30",
		"/members": "of 31", "/calls?range=1h": "of 30",
	} {
		sized := path + "?size=25"
		if strings.Contains(path, "?") {
			sized = path + "&size=25"
		}
		first := b.get(sized)
		first.want(t, http.StatusOK, "1–25 "+total)
		second := b.get(first.link(t, `rel="next"`))
		second.want(t, http.StatusOK, "26–")
		second.want(t, http.StatusOK, total)
	}
	b.get("/tools?q=tool&size=25").want(t, http.StatusOK, "25+ tools")
	b.get("/audit?size=25").want(t, http.StatusOK, "events")
}

func TestCallList_ByTime(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c, a := d.addConnectorAt("Linear", "https://mcp.example.com/mcp"), d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support bot", "support" })
	d.createWaitingCall(d.Tenant, a, c)
	b := d.signInAsRole(connectors.RoleViewer)
	p := b.get("/calls?range=1h")
	p.want(t, http.StatusOK, "1 call, 0 errors", "Support bot", "Linear", `<svg class="bars"`)
	bar := "/calls?" + strings.Split(strings.Split(p.Body, `<a href="/calls?`)[1], `"`)[0]
	if !strings.Contains(bar, "range=custom") {
		t.Fatalf("a bar leads to %s", bar)
	}
	from, to := time.Now().UTC().Add(-time.Hour), time.Now().UTC().Add(time.Hour)
	span := url.Values{"range": {"custom"}, "from": {from.Format("2006-01-02T15:04")}, "to": {to.Format("2006-01-02T15:04")}}
	b.get("/calls?"+span.Encode()).want(t, http.StatusOK, "1 call, 0 errors")
	span.Set("to", from.Add(time.Minute).Format("2006-01-02T15:04"))
	b.get("/calls?"+span.Encode()).want(t, http.StatusOK, "No matching calls")
	span.Set("to", "2001-01-01T00:00")
	b.get("/calls?"+span.Encode()).want(t, http.StatusOK, "The range must end after it begins.", `value="2001-01-01T00:00"`)
	b.get("/connectors/linear/calls?range=24h").want(t, http.StatusOK, "1 call, 0 errors", "Support bot")
	b.get("/connectors/linear/changes").want(t, http.StatusOK, "Changes")
}
