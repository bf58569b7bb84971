package admin_test

import (
	"cmp"
	"maps"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/store"
)

// maxStatements bounds a page's statements: session, memberships, waiting calls, and a few of its own.
const maxStatements = 7

// extraStatements are pages with more. A link page checks its sender, an agent's view is read as the gateway
// reads it, with its allowances, and settings show quota use. Overviews, calls and the home page draw history, and the
// latter, like the notifications, lists what needs attention in two round trips; the checklist of a new tenant is one more.
// Connectors are listed with their tags, accounts that expire, and the agents to which several can be granted. A change
// names the agents that it reaches, or offers the version before it. Lists with icons of connectors, and those that say
// their total, have one more for it.
var extraStatements = map[string]int64{
	"GET /connectors/{id}/tools/{tool}/changes": 2, "GET /connectors/{id}/tools/{tool}/changes/{change}": 2,
	"GET /approvals/{id}": 1, "GET /audit": 1, "GET /connectors/{id}/calls": 1, "GET /connectors/{id}/tools": 1, "GET /tasks": 1,
	"GET /connectors": 4, "GET /calls": 2, "GET /": 6, "GET /notices": 3, "GET /settings": 1, "GET /connect/{token}": 1, "GET /connectors/{id}": 3, "GET /agents/{id}": 10, "GET /agents/{id}/access": 5, "GET /agents/{id}/connectors/{connector}": 6, "GET /agents/{id}/tools": 3, "GET /agents/{id}/resources": 3, "GET /agents/{id}/unused": 5, "GET /agents/{id}/tools/{exposed}": 6,
}

// otherStatus are pages that redirect a signed-in person, are gone, or need more than an address.
var otherStatus = map[string]int{
	"/login": http.StatusSeeOther, "/unsent": http.StatusNotFound, "/setup": http.StatusNotFound, "/oauth/callback": http.StatusBadRequest,
	"/login/sso/callback": http.StatusSeeOther, "/login/code": http.StatusSeeOther, "/oauth/authorize": http.StatusUnprocessableEntity,
	"/account/connections/{agent}/{connector}": http.StatusNotFound,
	"/setup/invitation":                        http.StatusNotFound, "/audit/export.jsonl": http.StatusNotFound, "/audit/export.sig": http.StatusNotFound,
}

func TestPages_QueriesDoNotGrowWithRows(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleOwner)
	ids := d.ownThings()
	ids.link = d.createConnectLink(b)
	grow := func(n int) {
		for i := range n {
			c := d.Connector(t)
			d.Synced(t, c.ID, "search", "create_issue")
			d.Credential(t, c.ID, nil, "token")
			if i%10 == 0 {
				d.storeAccount(d.addOAuthConnector(), nil, 5*time.Hour)
			}
		}
		for range n / 10 {
			a := d.Agent(t)
			d.Grant(t, a.ID, connectors.ConnectorID{UUID: uuid.MustParse(ids.connector)})
			d.createToken(d.Tenant, connectors.AgentID{UUID: uuid.MustParse(ids.agent)})
			d.createWaitingCall(d.Tenant, a, d.Connector(t))
			d.Member(t, connectors.RoleViewer)
			d.APIKey(t, connectors.RoleViewer)
		}
	}
	grow(3)
	few := d.countPageQueries(b, ids)
	grow(297)
	if diff := gocmp.Diff(few, d.countPageQueries(b, ids)); diff != "" {
		t.Errorf("at 3 and at 300 connectors:\n%s", diff)
	}
	for _, route := range slices.Sorted(maps.Keys(few)) {
		if few[route] == 0 || few[route] > maxStatements+extraStatements[route] {
			t.Errorf("%s runs %d statements", route, few[route])
		}
	}
}

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

// countPageQueries counts the statements of every page.
func (d *dashboard) countPageQueries(b *browser, ids things) map[string]int64 {
	d.t.Helper()
	// While a view is in use, the definitions are not read again.
	view, err := d.access.ByAgent(d.t.Context(), d.Tenant, connectors.Ref(ids.agent))
	if err != nil {
		d.t.Fatal(err)
	}
	defer runtime.KeepAlive(view)
	counts := map[string]int64{}
	for route := range routeRoles {
		method, pattern, _ := strings.Cut(route, " ")
		if method != http.MethodGet || pattern == "/events" || pattern == "/connectors/export" || strings.HasPrefix(pattern, "/exports/") { // these read page after page, to the end
			continue
		}
		var p page
		counts[route] = d.countStatements(func() { p = b.get(ids.fill(pattern)) })
		if want := cmp.Or(otherStatus[pattern], http.StatusOK); p.Status != want {
			d.t.Errorf("%s answers %d, want %d: its statements say nothing", route, p.Status, want)
		}
	}
	return counts
}
