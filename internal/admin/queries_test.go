package admin_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/store"
)

// otherStatus are pages that redirect a signed-in person, are gone, or need more than an address.
var otherStatus = map[string]int{
	"/login": http.StatusSeeOther, "/unsent": http.StatusNotFound, "/setup": http.StatusNotFound, "/oauth/callback": http.StatusBadRequest,
	"/login/sso/callback": http.StatusSeeOther, "/login/code": http.StatusSeeOther, "/oauth/authorize": http.StatusUnprocessableEntity,
	"/account/connections/{agent}/{connector}": http.StatusNotFound,
	"/setup/invitation":                        http.StatusNotFound, "/audit/export.jsonl": http.StatusNotFound, "/audit/export.sig": http.StatusNotFound,
}

// maxStatements bounds a page's statements: session, memberships, waiting calls, and a few of its own.
const maxStatements = 7

// countStatements returns the fewest statements of three runs. An update of the session may add to one.
func (d *dashboard) countStatements(do func()) int64 {
	fewest := int64(math.MaxInt64)
	for range 3 {
		before := d.work.Queries()
		do()
		fewest = min(fewest, d.work.Queries()-before)
	}
	return fewest
}

func TestCredentialList_QueriesDoNotGrowWithAgents(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	c := d.addOAuthConnector(func(c *connectors.Draft) { c.CredentialMode = connectors.CredentialPerAgent })
	grow := func(n int) {
		for range n {
			d.storeAccount(c, new(d.Agent(t).ID), 5*time.Hour)
		}
	}
	count := func() int64 {
		return d.countStatements(func() { b.get("/connectors/"+c.Slug+"/credentials").want(t, http.StatusOK, "Expires in 5 hours") })
	}
	grow(3)
	few := count()
	grow(57)
	if many := count(); many != few || few > maxStatements+1 { // reads the owners of agents, because members' accounts get no link
		t.Errorf("%d statements for 3 agents, %d for 60", few, many)
	}
}

// addOAuthConnector adds a connector with OAuth accounts.
func (d *dashboard) addOAuthConnector(opts ...func(*connectors.Draft)) connectors.Connector {
	d.t.Helper()
	return d.Connector(d.t, append([]func(*connectors.Draft){func(c *connectors.Draft) { c.Auth.Type = connectors.AuthOAuth2 }}, opts...)...)
}

// storeAccount connects an account with a token that cannot be refreshed.
func (d *dashboard) storeAccount(c connectors.Connector, agent *connectors.AgentID, life time.Duration) {
	d.t.Helper()
	err := d.Door().Accounts().SaveGrant(d.t.Context(), store.NewGrant{
		ConnectorID: c.ID, AgentID: agent, Origin: connectors.Origin(c.URL),
		GrantTokens: store.GrantTokens{AccessToken: "access", ExpiresAt: new(time.Now().Add(life)), Scopes: []string{"read"}},
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// createConnectLink returns the last part of a link that the browser creates.
func (d *dashboard) createConnectLink(b *browser) string {
	d.t.Helper()
	_, mcp := startProtectedServer(d.t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := d.addOAuthConnector(func(c *connectors.Draft) { c.URL = mcp.URL })
	const place = "/connect/"
	link := findAddress(d.t, b.post("/connectors/"+c.Slug+"/connect-link", nil), d.server.URL+place)
	return link[len(d.server.URL+place):]
}
