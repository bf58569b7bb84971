package admin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
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
