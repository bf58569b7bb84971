package admin_test

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/store"
)

// most is how many statements any page may run: the session, the memberships, and a few for itself.
const most = 6

// elsewhere are the pages that send somebody who is signed in away, are not there any more, or want more than an address.
var elsewhere = map[string]int{
	"/": http.StatusSeeOther, "/login": http.StatusSeeOther, "/setup": http.StatusNotFound, "/oauth/callback": http.StatusBadRequest,
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
			d.Agent(t)
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
		allowed := int64(most)
		if route == "GET /connect/{token}" {
			allowed += 2 // who asks and whether they still may, besides what a start would read
		}
		if few[route] > allowed {
			t.Errorf("%s runs %d statements", route, few[route])
		}
	}
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
		before := d.Queries()
		b.get("/connectors/"+c.Slug+"/credentials").want(t, http.StatusOK, "Expires in 4 hours")
		return d.Queries() - before
	}
	grow(3)
	few := count()
	grow(57)
	if many := count(); many != few || few > most {
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
	counts := map[string]int64{}
	for route := range routeRoles {
		method, pattern, _ := strings.Cut(route, " ")
		if method != http.MethodGet || pattern == "/events" || pattern == "/connectors/export" { // which reads page after page, to the end
			continue
		}
		before := d.Queries()
		p := b.get(ids.fill(pattern))
		counts[route] = d.Queries() - before
		if want := cmp.Or(elsewhere[pattern], http.StatusOK); p.Status != want {
			d.t.Errorf("%s answers %d, want %d: its statements say nothing", route, p.Status, want)
		}
	}
	return counts
}
