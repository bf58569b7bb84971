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

// nowhere are the routes on which a role that may is told that there is nothing: what they are about is not to be had here.
var nowhere = []string{
	"POST /tenant",                                     // it names none
	"GET /audit/export.jsonl", "GET /audit/export.sig", // neither
	"POST /account/second-factor/confirm", "POST /account/second-factor/codes", "POST /account/second-factor/remove", // there is none
	"POST /members/{id}/second-factor/remove",
	"GET /account/connections/{agent}/{connector}", // the agent is nobody's own
	"POST /account/connections/{agent}/{connector}/connect", "POST /account/connections/{agent}/{connector}/credential", "POST /account/connections/{agent}/{connector}/disconnect",
	"POST /account/programs/{id}/revoke",                                                                   // it is one that another member let in
	"POST /account/sessions/{id}/revoke",                                                                   // it is another member's
	"POST /settings/sso/delete", "POST /settings/sso/domains/verify", "POST /settings/sso/domains/release", // there is none
	"POST /connectors/{id}/credential/delete",
	"POST /connectors/{id}/agents/{agent}/credential/delete",
}

// leaving are the routes after which nobody is signed in any more.
var leaving = []string{"POST /logout", "POST /account/sign-out"}

// ending tells whether a route ends what it is about.
func ending(pattern string) bool {
	return slices.ContainsFunc([]string{"/delete", "/revoke", "/remove", "/approve", "/deny", "/cancel"}, func(end string) bool {
		return strings.HasSuffix(pattern, end)
	})
}

func TestEachRoleDoesWhatItMay(t *testing.T) {
	t.Parallel()
	for _, role := range connectors.Roles {
		t.Run(string(role), func(t *testing.T) {
			t.Parallel()
			d := newDashboard(t)
			b, shared := d.as(role), d.own()
			for _, route := range d.routes() {
				method, pattern, _ := strings.Cut(route, " ")
				if needs := routeRoles[route]; needs == anyone || !mayUse(role, needs) || slices.Contains(leaving, route) || pattern == "/events" {
					continue // a stream has tests of its own
				}
				ids := shared
				if ending(pattern) {
					ids = d.own()
				}
				var form url.Values
				if method == http.MethodPost {
					form = url.Values{"role": {"viewer"}}
				}
				p := b.do(method, ids.fill(pattern), form)
				switch {
				case p.Status == http.StatusNotFound && slices.Contains(nowhere, route):
				case p.Status == http.StatusSeeOther && strings.HasPrefix(p.Location, "/login"),
					p.Status == http.StatusForbidden, p.Status == http.StatusNotFound, p.Status == http.StatusMethodNotAllowed, p.Status >= http.StatusInternalServerError:
					t.Errorf("%s: %d to %q\n%s", route, p.Status, p.Location, plainText(p.Body))
				}
			}
		})
	}
}

func TestAnothersThingCannotBeToldFromNone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b, theirs := d.as(connectors.RoleOwner), d.thingsOf(d.Other)
	none := nothing()
	before := d.snapshot()
	for _, route := range d.routes() {
		method, pattern, _ := strings.Cut(route, " ")
		if routeRoles[route] == anyone || !strings.Contains(pattern, "{") {
			continue
		}
		d.alike(route, func(x things) page {
			var form url.Values
			if method == http.MethodPost {
				form = url.Values{"role": {"admin"}, "enabled": {"false"}, "name": {"Changed"}, "token": {"t"}}
			}
			return b.do(method, x.fill(pattern), form)
		}, theirs, none)
	}
	d.unchanged(before)
}

// mentions are what pages take behind their addresses, and forms in them, that names a thing.
var mentions = map[string]func(things) string{
	"agent":     func(x things) string { return x.agent },
	"connector": func(x things) string { return x.connector },
	"change":    func(x things) string { return x.change },
	"id":        func(x things) string { return x.connector },
	"tool":      func(x things) string { return "mcp_any__" + x.tool },
}

func TestAnothersThingThatAPageOnlyMentionsCannotBeToldFromNone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b, own, theirs := d.as(connectors.RoleOwner), d.own(), d.thingsOf(d.Other)
	none := nothing()
	for _, route := range d.routes() {
		method, pattern, _ := strings.Cut(route, " ")
		if method != http.MethodGet || routeRoles[route] == anyone || pattern == "/events" || pattern == "/exports/audit" {
			continue // a stream has tests of its own, and each look at the audit log is the next one's first line
		}
		d.alike(route, func(x things) page {
			query := url.Values{}
			for name, of := range mentions {
				query.Set(name, of(x))
			}
			return b.get(own.fill(pattern) + "?" + query.Encode())
		}, theirs, none)
	}
	for _, route := range []string{"/connectors/test", "/connectors/{id}/sync_tools", "/connectors/{id}/tools/{tool}/try"} {
		d.alike(route, func(x things) page {
			return b.post(own.fill(route), url.Values{"agent": {x.agent}, "id": {x.connector}, "url": {"http://127.0.0.1:1/"}, "name": {"A"}})
		}, theirs, none)
	}
}

// nothing are things that no tenant has.
func nothing() things {
	id := uuid.Must(uuid.NewV7()).String()
	return things{
		connector: id, agent: id, member: id, key: id, invitation: id, tool: "search", token: id, waiting: id, picture: id, webhook: id,
		delivery: id, change: id, run: id, session: id, program: id, acting: id, offer: "nothing",
	}
}

// alike fails the test unless the answers about both things are one: the status, where they lead, the page but for the ids that were asked
// for, and how much is asked of the database, which is what their times are made of. What else happens meanwhile only adds
// to that: the least of several times counts.
func (d *dashboard) alike(what string, ask func(things) page, theirs, none things) {
	d.t.Helper()
	var difference string
	ask(none) // what is done once, for whoever comes first, is done
	ask(theirs)
	unknown, foreign := anyCost(), anyCost()
	for range 20 {
		var a, b answer
		a, unknown = d.answer(ask, none).least(unknown)
		b, foreign = d.answer(ask, theirs).least(foreign)
		if difference = cmp.Diff(a, b); difference == "" {
			return
		}
	}
	d.t.Errorf("%s (-unknown +another's):\n%s", what, difference)
}

// answer is what one may tell of a request.
type answer struct {
	Status   int
	Location string
	Body     []string
	Cost     cost
}

// moment is what differs between any two answers: the ids of what was asked for, and for how long something lasts already.
var moment = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9.]+ (ms|s)\b`)

func (d *dashboard) answer(ask func(things) page, about things) answer {
	queries, trips := d.Queries(), d.RoundTrips()
	p := ask(about)
	queries, trips = d.Queries()-queries, d.RoundTrips()-trips
	return answer{
		Status: p.Status, Location: moment.ReplaceAllString(p.Location, "…"), Cost: cost{queries, trips},
		Body: strings.Split(moment.ReplaceAllString(p.Body, "…"), "<"),
	}
}

// cost is how much was asked of the database.
type cost struct{ Queries, RoundTrips int64 }

func anyCost() cost { return cost{math.MaxInt64, math.MaxInt64} }

// least is an answer at the lowest cost that one like it had.
func (a answer) least(known cost) (answer, cost) {
	a.Cost = cost{min(a.Cost.Queries, known.Queries), min(a.Cost.RoundTrips, known.RoundTrips)}
	return a, a.Cost
}
