package admin_test

import (
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
)

// notFoundRoutes respond with 404 to an allowed role, because their thing does not exist here.
var notFoundRoutes = []string{
	"POST /tenant",                                     // names no tenant
	"GET /audit/export.jsonl", "GET /audit/export.sig", // likewise
	"POST /agents/{id}/tools/{exposed}/shaping",   // no connector has the tool
	"POST /connectors/{id}/tools/{tool}/withdraw", // the tool is no skill
	"GET /unsent",                                                                                                    // nothing waits
	"POST /account/second-factor/confirm", "POST /account/second-factor/codes", "POST /account/second-factor/remove", // there is none
	"POST /members/{id}/second-factor/remove",
	"GET /account/connections/{agent}/{connector}", // the agent belongs to no member
	"POST /account/connections/{agent}/{connector}/connect", "POST /account/connections/{agent}/{connector}/credential", "POST /account/connections/{agent}/{connector}/disconnect", "POST /account/connections/{agent}/{connector}/account/rename",
	"POST /account/programs/{id}/revoke",                        // authorized by another member
	"POST /account/sessions/{id}/revoke",                        // another member's
	"POST /settings/scim/rotate", "POST /settings/scim/disable", // it is off
	"POST /settings/sso/delete", "POST /settings/sso/domains/verify", "POST /settings/sso/domains/release", // there is none
	"POST /connectors/{id}/credential/delete", "POST /connectors/{id}/account/syncs",
	"POST /connectors/{id}/agents/{agent}/credential/delete",
}

// signOutRoutes end the session.
var signOutRoutes = []string{"POST /logout", "POST /account/sign-out"}

// isEnding reports whether a route deletes or ends its thing.
func isEnding(pattern string) bool {
	return slices.ContainsFunc([]string{"/delete", "/revoke", "/remove", "/approve", "/deny", "/cancel", "/end"}, func(end string) bool {
		return strings.HasSuffix(pattern, end)
	})
}

func TestEachRoleDoesWhatItMay(t *testing.T) {
	t.Parallel()
	for _, role := range connectors.Roles {
		t.Run(string(role), func(t *testing.T) {
			t.Parallel()
			d := newDashboard(t)
			b, shared := d.signInAsRole(role), d.ownThings()
			for _, route := range d.routes() {
				method, pattern, _ := strings.Cut(route, " ")
				if needs := routeRoles[route]; needs == anyone || !mayUse(role, needs) || slices.Contains(signOutRoutes, route) || pattern == "/events" {
					continue // streams have tests of their own
				}
				ids := shared
				if isEnding(pattern) {
					ids = d.ownThings()
				}
				var form url.Values
				if method == http.MethodPost {
					form = url.Values{"role": {"viewer"}}
				}
				p := b.do(method, ids.fill(pattern), form)
				switch {
				case p.Status == http.StatusNotFound && slices.Contains(notFoundRoutes, route):
				case p.Status == http.StatusSeeOther && strings.HasPrefix(p.Location, "/login"),
					p.Status == http.StatusForbidden, p.Status == http.StatusNotFound, p.Status == http.StatusMethodNotAllowed, p.Status >= http.StatusInternalServerError:
					t.Errorf("%s: %d to %q\n%s", route, p.Status, p.Location, plainText(p.Body))
				}
			}
		})
	}
}

func TestRoutes_OtherTenantLooksLikeMissing(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b, theirs := d.signInAsRole(connectors.RoleOwner), d.createThings(d.Other)
	none := missingThings()
	before := d.snapshot()
	for _, route := range d.routes() {
		method, pattern, _ := strings.Cut(route, " ")
		if routeRoles[route] == anyone || !strings.Contains(pattern, "{") {
			continue
		}
		d.wantIndistinguishable(route, func(x things) page {
			var form url.Values
			if method == http.MethodPost {
				form = url.Values{"role": {"admin"}, "enabled": {"false"}, "name": {"Changed"}, "token": {"t"}}
			}
			return b.do(method, x.fill(pattern), form)
		}, theirs, none)
	}
	d.wantUnchanged(before)
}

// mentionQueries are queries and form fields that name a thing.
var mentionQueries = map[string]func(things) string{
	"agent":     func(x things) string { return x.agent },
	"connector": func(x things) string { return x.connector },
	"change":    func(x things) string { return x.change },
	"id":        func(x things) string { return x.connector },
	"tool":      func(x things) string { return "mcp_any__" + x.tool },
}

func TestMention_OfOtherTenantLooksLikeNone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b, own, theirs := d.signInAsRole(connectors.RoleOwner), d.ownThings(), d.createThings(d.Other)
	none := missingThings()
	for _, route := range d.routes() {
		method, pattern, _ := strings.Cut(route, " ")
		if method != http.MethodGet || routeRoles[route] == anyone || pattern == "/events" || pattern == "/exports/audit" {
			continue // streams have tests of their own, and reading the audit log adds an entry to it
		}
		d.wantIndistinguishable(route, func(x things) page {
			query := url.Values{}
			for name, of := range mentionQueries {
				query.Set(name, of(x))
			}
			return b.get(own.fill(pattern) + "?" + query.Encode())
		}, theirs, none)
	}
	for _, route := range []string{"/connectors/test", "/connectors/{id}/sync_tools", "/connectors/{id}/tools/{tool}/try"} {
		d.wantIndistinguishable(route, func(x things) page {
			return b.post(own.fill(route), url.Values{"agent": {x.agent}, "id": {x.connector}, "url": {"http://127.0.0.1:1/"}, "name": {"A"}})
		}, theirs, none)
	}
}

// missingThings are ids that no tenant has.
func missingThings() things {
	id := uuid.Must(uuid.NewV7()).String()
	return things{
		connector: id, agent: id, member: id, key: id, invitation: id, tool: "search", token: id, workload: id, waiting: id, picture: id, webhook: id, registry: id, stream: id, request: id,
		delivery: id, change: id, run: id, session: id, program: id, acting: id, offer: "nothing",
	}
}

// wantIndistinguishable fails the test unless the responses about both things are equal: status, redirect, page
// without the ids, and number of queries, which determines the time. Background work only adds queries, so the
// minimum of several runs counts.
func (d *dashboard) wantIndistinguishable(what string, ask func(things) page, theirs, none things) {
	d.t.Helper()
	var difference string
	ask(none) // warms caches
	ask(theirs)
	unknown, foreign := maxCost(), maxCost()
	for range 20 {
		var a, b observation
		a, unknown = d.observe(ask, none).withLowestCost(unknown)
		b, foreign = d.observe(ask, theirs).withLowestCost(foreign)
		if difference = cmp.Diff(a, b); difference == "" {
			return
		}
	}
	d.t.Errorf("%s (-unknown +another's):\n%s", what, difference)
}

// observation is what a client can see of a response.
type observation struct {
	Status   int
	Location string
	Body     []string
	Cost     cost
}

// volatileText differs between equal responses: ids and durations.
var volatileText = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9.]+ (ms|s)\b`)

func (d *dashboard) observe(ask func(things) page, about things) observation {
	queries, trips := d.work.Queries(), d.work.RoundTrips()
	p := ask(about)
	queries, trips = d.work.Queries()-queries, d.work.RoundTrips()-trips
	return observation{
		Status: p.Status, Location: volatileText.ReplaceAllString(p.Location, "…"), Cost: cost{queries, trips},
		Body: strings.Split(volatileText.ReplaceAllString(p.Body, "…"), "<"),
	}
}

// cost is the database work of a request.
type cost struct{ Queries, RoundTrips int64 }

func maxCost() cost { return cost{math.MaxInt64, math.MaxInt64} }

// withLowestCost returns the observation with the lower of two costs.
func (a observation) withLowestCost(known cost) (observation, cost) {
	a.Cost = cost{min(a.Cost.Queries, known.Queries), min(a.Cost.RoundTrips, known.RoundTrips)}
	return a, a.Cost
}
