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

// most is how many statements any page may run: the session, the memberships, the calls that wait, and a few for itself.
const most = 7

// more is what pages may run besides: whoever asks with a link is checked as who starts a connection is; and what an agent sees is read
// as the gateway reads it; settings tell what of quotas was used. A connector's overview draws what came of its syncs, and looks into one, and the home page what came of everything, since when, in two round trips.
var more = map[string]int64{
	"GET /": 4, "GET /settings": 1, "GET /connect/{token}": 1, "GET /connectors/{id}": 2, "GET /agents/{id}": 8, "GET /agents/{id}/access": 5, "GET /agents/{id}/connectors/{connector}": 6, "GET /agents/{id}/tools": 3, "GET /agents/{id}/unused": 5, "GET /agents/{id}/tools/{exposed}": 4,
}

// elsewhere are the pages that send somebody who is signed in away, are not there any more, or want more than an address.
var elsewhere = map[string]int{
	"/login": http.StatusSeeOther, "/setup": http.StatusNotFound, "/oauth/callback": http.StatusBadRequest,
	"/login/sso/callback": http.StatusSeeOther, "/login/code": http.StatusSeeOther, "/oauth/authorize": http.StatusUnprocessableEntity,
	"/account/connections/{agent}/{connector}": http.StatusNotFound,
	"/setup/invitation":                        http.StatusNotFound, "/audit/export.jsonl": http.StatusNotFound, "/audit/export.sig": http.StatusNotFound,
}

func TestPagesIssueTheSameQueriesWhateverTheyList(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.as(connectors.RoleOwner)
	ids := d.own()
	ids.link = d.link(b)
	grow := func(n int) {
		for i := range n {
			c := d.Connector(t)
			d.Synced(t, c.ID, "search", "create_issue")
			d.Credential(t, c.ID, nil, "token")
			if i%10 == 0 {
				d.grant(d.account(), nil, 5*time.Hour)
			}
		}
		for range n / 10 {
			a := d.Agent(t)
			d.Grant(t, a.ID, connectors.ConnectorID{UUID: uuid.MustParse(ids.connector)})
			d.tokenIn(d.Tenant, connectors.AgentID{UUID: uuid.MustParse(ids.agent)})
			d.waitingIn(d.Tenant, a, d.Connector(t))
			d.Member(t, connectors.RoleViewer)
			d.APIKey(t, connectors.RoleViewer)
		}
	}
	grow(3)
	few := d.queries(b, ids)
	grow(297)
	if diff := gocmp.Diff(few, d.queries(b, ids)); diff != "" {
		t.Errorf("at 3 and at 300 connectors:\n%s", diff)
	}
	for _, route := range slices.Sorted(maps.Keys(few)) {
		if few[route] > most+more[route] {
			t.Errorf("%s runs %d statements", route, few[route])
		}
	}
}

// statements returns the fewest statements that do took in three runs. A session's last use and background work may add to one of them.
func (d *dashboard) statements(do func()) int64 {
	fewest := int64(math.MaxInt64)
	for range 3 {
		before := d.Queries()
		do()
		fewest = min(fewest, d.Queries()-before)
	}
	return fewest
}

func TestAnAccountsPageIssuesTheSameQueriesForAnyNumberOfAgents(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.as(connectors.RoleAdmin)
	c := d.account(func(c *connectors.Draft) { c.CredentialMode = connectors.CredentialPerAgent })
	grow := func(n int) {
		for range n {
			d.grant(c, new(d.Agent(t).ID), 5*time.Hour)
		}
	}
	count := func() int64 {
		return d.statements(func() { b.get("/connectors/"+c.Slug+"/credentials").want(t, http.StatusOK, "Expires in 4 hours") })
	}
	grow(3)
	few := count()
	grow(57)
	if many := count(); many != few || few > most+1 { // whose agents they are: no link is offered for a member's
		t.Errorf("%d statements for 3 agents, %d for 60", few, many)
	}
}

// account makes a connector whose accounts are connected.
func (d *dashboard) account(opts ...func(*connectors.Draft)) connectors.Connector {
	d.t.Helper()
	return d.Connector(d.t, append([]func(*connectors.Draft){func(c *connectors.Draft) { c.Auth.Type = connectors.AuthOAuth2 }}, opts...)...)
}

// grant connects an account whose token cannot be renewed, as if a person had been there.
func (d *dashboard) grant(c connectors.Connector, agent *connectors.AgentID, life time.Duration) {
	d.t.Helper()
	err := d.Door().SaveGrant(d.t.Context(), store.NewGrant{
		ConnectorID: c.ID, AgentID: agent, Origin: connectors.Origin(c.URL),
		GrantTokens: store.GrantTokens{AccessToken: "access", ExpiresAt: new(time.Now().Add(life)), Scopes: []string{"read"}},
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// link is the last part of a link that the browser makes.
func (d *dashboard) link(b *browser) string {
	d.t.Helper()
	_, mcp := protected(d.t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := d.account(func(c *connectors.Draft) { c.URL = mcp.URL })
	const place = "/connect/"
	link := addressOn(d.t, b.post("/connectors/"+c.Slug+"/connect-link", nil), d.server.URL+place)
	return link[len(d.server.URL+place):]
}

// queries counts the statements of every page.
func (d *dashboard) queries(b *browser, ids things) map[string]int64 {
	d.t.Helper()
	// As long as some view has the definitions, they are not read again.
	view, err := d.access.ByAgent(d.t.Context(), d.Tenant, connectors.Ref(ids.agent))
	if err != nil {
		d.t.Fatal(err)
	}
	defer runtime.KeepAlive(view)
	counts := map[string]int64{}
	for route := range routeRoles {
		method, pattern, _ := strings.Cut(route, " ")
		if method != http.MethodGet || pattern == "/events" || pattern == "/connectors/export" || strings.HasPrefix(pattern, "/exports/") { // which read page after page, to the end
			continue
		}
		var p page
		counts[route] = fewest(d.Queries, func() { p = b.get(ids.fill(pattern)) })
		if want := cmp.Or(elsewhere[pattern], http.StatusOK); p.Status != want {
			d.t.Errorf("%s answers %d, want %d: its statements say nothing", route, p.Status, want)
		}
	}
	return counts
}

// fewest is how many statements something runs: of several looks that into which nothing else of the process fell, which sweeps now and then.
func fewest(statements func() int64, do func()) int64 {
	least := int64(math.MaxInt64)
	for range 4 {
		before := statements()
		do()
		least = min(least, statements()-before)
	}
	return least
}
