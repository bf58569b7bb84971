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
	owner, theirs := w.createKey(t, connectors.RoleOwner), w.createTargets(t, w.Other)
	mine := w.createTargets(t, w.Tenant)
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
		"an unknown id":              targetsNamed(unknown),
		"almost an id":               targetsNamed(unknown[1:]),
		"an id in other clothes":     targetsNamed("{" + unknown + "}"),
		"no id":                      targetsNamed("~"),
		"a long word":                targetsNamed(strings.Repeat("a", 5000)),
		"a NUL":                      targetsNamed("a%00"),
		"a slash":                    targetsNamed("a%2Fb"),
		"no UTF-8":                   targetsNamed("%FF"),
	} {
		eachRoute(t, ids, func(t *testing.T, method, path, body string, _ connectors.Permission) {
			if strings.Contains(path, "/catalog/") && ids.offer != "" {
				return // the catalog is shared
			}
			w.call(t, owner, method, path, body).problem(http.StatusNotFound, "not-found")
		})
	}
	w.wantUnchanged(t, before)
}

// pathParams are the parameters that name a thing.
var pathParams = []string{"{id}", "{agent}", "{connector}", "{token_id}", "{workload}", "{delivery}", "/why"}

// swapParam takes one parameter from other, and the rest from mine.
func swapParam(pattern, param string, mine, other targets) targets {
	x := mine
	switch param {
	case "{agent}":
		x.agent = other.agent
	case "{connector}":
		x.connector = other.connector
	case "{token_id}":
		x.token = other.token
	case "{workload}":
		x.workload = other.workload
	case "{delivery}":
		x.delivery = other.delivery
	case "/why":
		x.exposed = other.exposed
	case "{id}":
		x = other
		x.token, x.workload, x.delivery, x.exposed = mine.token, mine.workload, mine.delivery, mine.exposed
		if strings.HasPrefix(pattern, "/api/v1/agents") {
			x.connector = mine.connector
		} else {
			x.agent = mine.agent
		}
	}
	return x
}

// missingTargets are ids that no tenant has.
func missingTargets() targets {
	x := targetsNamed(uuid.Must(uuid.NewV7()).String())
	x.exposed = connectors.ExposedName("connector-none", "search")
	return x
}

func TestRoutes_OtherTenantLooksLikeMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner, mine, theirs, none := w.createKey(t, connectors.RoleOwner), w.createTargets(t, w.Tenant), w.createTargets(t, w.Other), missingTargets()
	before := w.Rows(t)
	for _, route := range slices.Sorted(maps.Keys(routes)) {
		method, pattern, _ := strings.Cut(route, " ")
		for _, param := range pathParams {
			if !strings.Contains(pattern, param) {
				continue
			}
			w.wantIndistinguishable(t, route+" with another "+param, func(other targets) reply {
				return w.call(t, owner, method, swapParam(pattern, param, mine, other).fillPattern(pattern), routes[route].body)
			}, theirs, none)
		}
	}
	w.wantUnchanged(t, before)
}

func TestMention_OfOtherTenantLooksLikeMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner, mine, theirs, none := w.createKey(t, connectors.RoleOwner), w.createTargets(t, w.Tenant), w.createTargets(t, w.Other), missingTargets()
	mentions := w.listMentions(t)
	before := w.Rows(t)
	for _, m := range mentions {
		method, pattern, _ := strings.Cut(m.route, " ")
		w.wantIndistinguishable(t, fmt.Sprintf("%s with %s in its %s", m.route, m.name, m.where), func(other targets) reply {
			path, body := mine.fillPattern(pattern), routes[m.route].body
			thing := map[string]string{"agent": other.agent, "connector": other.connector, "tool": other.exposed}[m.name]
			if m.where == "query" {
				path += "?" + m.name + "=" + thing
			} else {
				body = fmt.Sprintf("{%q: %q}", m.name, thing)
			}
			return w.call(t, owner, method, path, body)
		}, theirs, none)
	}
	w.wantUnchanged(t, before)
	if len(mentions) < 6 {
		t.Errorf("only %v", mentions)
	}
}

// mention is a query parameter or body field that names a thing.
type mention struct{ route, where, name string }

// listMentions lists those of the document.
func (w *world) listMentions(t *testing.T) []mention {
	t.Helper()
	var found []mention
	doc := w.readDocument(t)
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

// wantIndistinguishable fails the test unless the responses about both things are equal: status, headers, body
// without the ids, and number of queries, which determines the time. Background work only adds queries, so the
// minimum of several runs counts.
func (w *world) wantIndistinguishable(t *testing.T, what string, ask func(targets) reply, theirs, none targets) {
	t.Helper()
	var difference string
	ask(none) // warms caches
	ask(theirs)
	unknown, foreign := anyCost(), anyCost()
	for range 20 {
		var a, b observation
		a, unknown = w.observe(ask, none).withLowestCost(unknown)
		b, foreign = w.observe(ask, theirs).withLowestCost(foreign)
		if difference = cmp.Diff(a, b); difference == "" {
			return
		}
	}
	t.Errorf("%s (-unknown +another tenant's):\n%s", what, difference)
}

// observation is what a client can see of a response.
type observation struct {
	Status int
	Header http.Header
	Body   string
	Cost   cost
}

// ids differ between equal responses: those of things, and of the request.
var ids = regexp.MustCompile(`[0-9a-f]{8}([-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|mcp_[a-z0-9_-]+`)

func (w *world) observe(ask func(targets) reply, about targets) observation {
	queries, trips := w.Queries(), w.RoundTrips()
	got := ask(about)
	queries, trips = w.Queries()-queries, w.RoundTrips()-trips
	return observation{Status: got.status, Header: got.header, Body: ids.ReplaceAllString(string(got.body), "ID"), Cost: cost{queries, trips}}
}

// cost is the database work of a request.
type cost struct{ Queries, RoundTrips int64 }

func anyCost() cost { return cost{math.MaxInt64, math.MaxInt64} }

// withLowestCost returns the observation with the lower of two costs.
func (a observation) withLowestCost(known cost) (observation, cost) {
	a.Cost = cost{min(a.Cost.Queries, known.Queries), min(a.Cost.RoundTrips, known.RoundTrips)}
	return a, a.Cost
}
