package api_test

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
)

func TestAnotherTenantsThingsAreNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner, theirs := w.key(t, connectors.RoleOwner), w.targetsIn(t, w.Other)
	mine := w.targetsIn(t, w.Tenant)
	unknown := uuid.Must(uuid.NewV7()).String()
	otherAgent := theirs
	otherAgent.connector, otherAgent.only = mine.connector, "{agent}"
	otherConnector, otherToken := mine, mine
	otherConnector.connector, otherConnector.only = theirs.connector, "{connector}"
	otherToken.token, otherToken.only = theirs.token, "{token_id}"
	otherDelivery := mine
	otherDelivery.delivery, otherDelivery.only = theirs.delivery, "{delivery}"
	theirs.only = "{"
	before := w.Rows(t)
	for _, ids := range map[string]targets{
		"another tenant's":           theirs,
		"my connector, their agent":  otherAgent,
		"my agent, their connector":  otherConnector,
		"my agent, their token":      otherToken,
		"my webhook, their delivery": otherDelivery,
		"an unknown id":              all(unknown),
		"almost an id":               all(unknown[1:]),
		"an id in other clothes":     all("{" + unknown + "}"),
		"no id":                      all("~"),
		"a long word":                all(strings.Repeat("a", 5000)),
		"a NUL":                      all("a%00"),
		"a slash":                    all("a%2Fb"),
		"no UTF-8":                   all("%FF"),
	} {
		eachRoute(t, ids, func(t *testing.T, method, path, body string, _ connectors.Permission) {
			if strings.Contains(path, "/catalog/") && ids.offer != "" {
				return // the catalog is everybody's
			}
			w.call(t, owner, method, path, body).problem(http.StatusNotFound, "not-found")
		})
	}
	w.unchanged(t, before)
}

// params are what names a thing in a path.
var params = []string{"{id}", "{agent}", "{connector}", "{token_id}", "{delivery}", "/why"}

// swap takes one parameter of a path from elsewhere, and leaves the others mine.
func swap(pattern, param string, mine, other targets) targets {
	x := mine
	switch param {
	case "{agent}":
		x.agent = other.agent
	case "{connector}":
		x.connector = other.connector
	case "{token_id}":
		x.token = other.token
	case "{delivery}":
		x.delivery = other.delivery
	case "/why":
		x.exposed = other.exposed
	case "{id}":
		x = other
		x.token, x.delivery, x.exposed = mine.token, mine.delivery, mine.exposed
		if strings.HasPrefix(pattern, "/api/v1/agents") {
			x.connector = mine.connector
		} else {
			x.agent = mine.agent
		}
	}
	return x
}

// unknown are things that no tenant has.
func unknown() targets {
	x := all(uuid.Must(uuid.NewV7()).String())
	x.exposed = connectors.ExposedName("connector-none", "search")
	return x
}

func TestAnotherTenantsThingCannotBeToldFromNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner, mine, theirs, none := w.key(t, connectors.RoleOwner), w.targetsIn(t, w.Tenant), w.targetsIn(t, w.Other), unknown()
	before := w.Rows(t)
	for _, route := range slices.Sorted(maps.Keys(routes)) {
		method, pattern, _ := strings.Cut(route, " ")
		for _, param := range params {
			if !strings.Contains(pattern, param) {
				continue
			}
			w.alike(t, route+" with another "+param, func(other targets) reply {
				return w.call(t, owner, method, swap(pattern, param, mine, other).path(pattern), routes[route].body)
			}, theirs, none)
		}
	}
	w.unchanged(t, before)
}

func TestAnotherTenantsThingThatIsOnlyMentionedCannotBeToldFromNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner, mine, theirs, none := w.key(t, connectors.RoleOwner), w.targetsIn(t, w.Tenant), w.targetsIn(t, w.Other), unknown()
	mentions := w.mentions(t)
	before := w.Rows(t)
	for _, m := range mentions {
		method, pattern, _ := strings.Cut(m.route, " ")
		w.alike(t, fmt.Sprintf("%s with %s in its %s", m.route, m.name, m.where), func(other targets) reply {
			path, body := mine.path(pattern), routes[m.route].body
			thing := map[string]string{"agent": other.agent, "connector": other.connector, "tool": other.exposed}[m.name]
			if m.where == "query" {
				path += "?" + m.name + "=" + thing
			} else {
				body = fmt.Sprintf("{%q: %q}", m.name, thing)
			}
			return w.call(t, owner, method, path, body)
		}, theirs, none)
	}
	w.unchanged(t, before)
	if len(mentions) < 6 {
		t.Errorf("only %v", mentions)
	}
}

// mention is where a request says which thing it is about, beside its path.
type mention struct{ route, where, name string }

// mentions are those that the document knows.
func (w *world) mentions(t *testing.T) []mention {
	t.Helper()
	var found []mention
	doc := w.document(t)
	for pattern, operations := range doc["paths"].(map[string]any) {
		for method, op := range operations.(map[string]any) {
			route := strings.ToUpper(method) + " " + pattern
			op := op.(map[string]any)
			parameters, _ := op["parameters"].([]any)
			for _, p := range parameters {
				if p := p.(map[string]any); p["in"] == "query" {
					found = append(found, mention{route, "query", p["name"].(string)})
				}
			}
			for _, name := range bodyFields(doc, op) {
				found = append(found, mention{route, "body", name})
			}
		}
	}
	return slices.DeleteFunc(found, func(m mention) bool { return !slices.Contains([]string{"agent", "connector", "tool"}, m.name) })
}

// bodyFields are the names of an operation's body.
func bodyFields(doc, op map[string]any) []string {
	body, ok := op["requestBody"].(map[string]any)
	if !ok {
		return nil
	}
	schema := body["content"].(map[string]any)["application/json"].(map[string]any)["schema"].(map[string]any)
	if ref, ok := schema["$ref"].(string); ok {
		schema = doc["components"].(map[string]any)["schemas"].(map[string]any)[path.Base(ref)].(map[string]any)
	}
	properties, _ := schema["properties"].(map[string]any)
	return slices.Collect(maps.Keys(properties))
}

// alike fails the test unless the answers about both things are one: the status, the headers, the body but for the ids that were asked
// for, and how much is asked of the database, which is what their times are made of. What else happens meanwhile only adds
// to that: the least of several times counts.
func (w *world) alike(t *testing.T, what string, ask func(targets) reply, theirs, none targets) {
	t.Helper()
	var difference string
	ask(none) // what is done once, for whoever comes first, is done
	ask(theirs)
	unknown, foreign := anyCost(), anyCost()
	for range 20 {
		var a, b answer
		a, unknown = w.answer(ask, none).least(unknown)
		b, foreign = w.answer(ask, theirs).least(foreign)
		if difference = cmp.Diff(a, b); difference == "" {
			return
		}
	}
	t.Errorf("%s (-unknown +another tenant's):\n%s", what, difference)
}

// answer is what one may tell of a request.
type answer struct {
	Status int
	Header http.Header
	Body   string
	Cost   cost
}

// ids are what differs between any two answers: the things that were asked for, and the request's own id.
var ids = regexp.MustCompile(`[0-9a-f]{8}([-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|mcp_[a-z0-9_-]+`)

func (w *world) answer(ask func(targets) reply, about targets) answer {
	queries, trips := w.Queries(), w.RoundTrips()
	got := ask(about)
	queries, trips = w.Queries()-queries, w.RoundTrips()-trips
	return answer{Status: got.status, Header: got.header, Body: ids.ReplaceAllString(string(got.body), "ID"), Cost: cost{queries, trips}}
}

// cost is how much was asked of the database.
type cost struct{ Queries, RoundTrips int64 }

func anyCost() cost { return cost{math.MaxInt64, math.MaxInt64} }

// least is an answer at the lowest cost that one like it had.
func (a answer) least(known cost) (answer, cost) {
	a.Cost = cost{min(a.Cost.Queries, known.Queries), min(a.Cost.RoundTrips, known.RoundTrips)}
	return a, a.Cost
}
