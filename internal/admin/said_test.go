package admin_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
	"patchbay/internal/testing/htmlcheck"
)

// wantQuote checks that a page quotes the markup as text, under a label.
func (p page) wantQuote(t testing.TB, label string) {
	t.Helper()
	p.want(t, http.StatusOK, label, "<b>disk</b> full", `\u202e`)
	if strings.Contains(p.Body, "<b>disk") || !strings.Contains(p.Body, "<blockquote>") || strings.Contains(p.Body, "\u202e") {
		t.Errorf("the server's words are no quote:\n%s", p.Body)
	}
}

func TestPages_QuoteTheServer(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": mcptest.Status(http.StatusInternalServerError, "<b>disk</b> full\u202e")}})
	c := d.addConnectorAt("Linear", up.URL)
	b := d.signInAsRole(connectors.RoleAdmin)
	for _, action := range []string{"sync_tools", "ping"} {
		p := b.submit("/connectors/linear/"+action, nil)
		p.wantQuote(t, "Server response")
		alert, _ := htmlcheck.Parse(t, p.Body).ByID("alert")
		if text := alert.Text(); strings.Contains(text, "disk") || !strings.Contains(text, "failed:") {
			t.Errorf("%s: the alert says %q", action, text)
		}
		if b.get("/connectors/linear").says("<b>disk") {
			t.Errorf("%s is quoted twice", action)
		}
	}
	b.get("/connectors/linear/runs/"+d.listRuns(c.ID)[0].ID.String()).wantQuote(t, "Server response")
	b.post("/connectors/test", connectorForm("Tested", up.URL, "auth.type", "none", "retry_attempts", "0")).wantQuote(t, "Server response")
	call := newCall(d.Agent(t), c, connectors.CallError)
	status := 3
	call.ErrorCode, call.ErrorMessage, call.Upstream = "upstream", "The program ended.", &connectors.Upstream{Said: "<b>disk</b> full" + `\u202e`, ExitStatus: &status}
	b.get("/calls/"+d.createEndedCall(d.Tenant, call).String()).wantQuote(t, "exit status 3")
}

// endGrant gives an agent an account, or the shared one, that ended with the server's words.
func (d *dashboard) endGrant(c connectors.Connector, agent *connectors.AgentID) {
	d.t.Helper()
	err := d.Door().Accounts().SaveGrant(d.t.Context(), store.NewGrant{
		ConnectorID: c.ID, AgentID: agent, Origin: connectors.Origin(c.URL), GrantTokens: store.GrantTokens{AccessToken: "t", ExpiresAt: new(time.Now().Add(time.Hour))},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	vault := d.St.Vault(d.Tenant)
	g, err := vault.Grant(d.t.Context(), c.ID, agent)
	if err != nil {
		d.t.Fatal(err)
	}
	said := &connectors.Upstream{Said: "<b>disk</b> full" + `\u202e`, Status: 400}
	if _, err := vault.RefuseGrant(d.t.Context(), g.ID, g.Version, store.GrantMeta{}, "The authorization server ended access. Connect again.", said); err != nil {
		d.t.Fatal(err)
	}
}

func TestPages_QuoteTheServerOfAnEndedAccount(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.Connector(t, func(c *connectors.Draft) { c.Auth.Type = connectors.AuthOAuth2 })
	d.endGrant(c, nil)
	b := d.signInAsRole(connectors.RoleViewer)
	b.get("/connectors/"+c.Slug+"/credentials").wantQuote(t, "Server response")
	b.get("/notices").wantQuote(t, "Server response")
}

func TestPages_QuoteOfAMembersAccountIsForMemberAndManagers(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ada := d.createMember(connectors.RoleMember)
	a, c, path := d.createOwnAgent(ada, func(c *connectors.Draft) { c.Auth.Type = connectors.AuthOAuth2 })
	d.endGrant(c, &a.ID)
	own := d.browser()
	own.signIn(ada.Email)
	for _, page := range []string{path, "/account/connections", "/connectors/" + c.Slug + "/credentials"} {
		own.get(page).wantQuote(t, "Server response")
	}
	for _, role := range connectors.Roles {
		b := d.signInAsRole(role)
		for _, page := range []string{"/notices", "/connectors/" + c.Slug + "/credentials"} {
			if p := b.get(page); p.says("<b>disk") != role.May(connectors.PermManage) || p.Status != http.StatusOK {
				t.Errorf("%s, to %s: %d %s", page, role, p.Status, plainText(p.Body))
			}
		}
	}
}

func TestPages_StreamOfNoticesQuotesTheServer(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleViewer)
	events := b.openEventsAt("/events?on=notices")
	d.endGrant(d.Connector(t, func(c *connectors.Draft) { c.Auth.Type = connectors.AuthOAuth2 }), nil)
	if event := events.until("needs authorization"); !strings.Contains(event, "&lt;b&gt;disk") {
		t.Errorf("told by %s", event)
	}
}
