package api_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

// open are the routes of the API that are for everybody, and so have no row in routes.
var open = []string{"GET /openapi.json", "HEAD /openapi.json"}

func TestEveryRouteHasARowInTheTableAndInTheDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	documented := map[string]connectors.Permission{}
	for path, operations := range w.document(t)["paths"].(map[string]any) {
		for method, op := range operations.(map[string]any) {
			needs, _ := op.(map[string]any)["x-permission"].(string)
			documented[strings.ToUpper(method)+" "+path] = connectors.Permission(needs)
			if least := op.(map[string]any)["x-least-role"]; least != string(connectors.LeastRole(connectors.Permission(needs))) {
				t.Errorf("%s %s: the least role that may %s is said to be %v", method, path, needs, least)
			}
		}
	}
	want := map[string]connectors.Permission{}
	for route, row := range routes {
		want[route] = row.needs
	}
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Errorf("routes (-rows +documented):\n%s", diff)
	}
	mounted := slices.Sorted(slices.Values(w.mounted(t)))
	if diff := cmp.Diff(slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(routes)), open...))), mounted); diff != "" {
		t.Errorf("routes (-rows +mounted):\n%s", diff)
	}
}

// mounted are the routes that the router knows, "METHOD pattern".
func (w *world) mounted(t *testing.T) []string {
	t.Helper()
	var found []string
	err := chi.Walk(w.handler.(chi.Routes), func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		found = append(found, method+" "+pattern)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 80 {
		t.Fatalf("only %d routes: %q", len(found), found)
	}
	return found
}

// unchanged fails the test unless the tenants have what they had.
func (w *world) unchanged(t *testing.T, before string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(before, "\n"), strings.Split(w.Rows(t), "\n")); diff != "" {
		t.Errorf("what was refused changed something (-before +after):\n%s", diff)
	}
}

func TestNobodyWithoutAKeyGetsIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	revoked := w.key(t, connectors.RoleOwner)
	w.revoke(t, revoked)
	owner := w.key(t, connectors.RoleOwner)
	ids := w.targetsIn(t, w.Tenant)
	before := w.Rows(t)
	eachRoute(t, ids, func(t *testing.T, method, path, body string, _ connectors.Permission) {
		for name, authorization := range map[string]string{
			"nothing":        "",
			"an agent":       "Bearer pb_agent_0123456789",
			"another scheme": "Basic YTpi",
			"garbage":        "Bearer pb_key_garbage",
			"no scheme":      owner,
			"a cut key":      "Bearer " + owner[:len(owner)-1],
			"a revoked key":  "Bearer " + revoked,
		} {
			r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
			if authorization != "" {
				r.Header.Set("Authorization", authorization)
			}
			got := w.serve(t, r)
			got.problem(http.StatusUnauthorized, "unauthenticated")
			if got.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: no challenge", name)
			}
		}
	})
	w.unchanged(t, before)
}

func TestARoleThatMayNotIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.targetsIn(t, w.Tenant)
	keys, cookies := map[connectors.Role]string{}, map[connectors.Role]*http.Cookie{}
	for _, role := range connectors.Roles {
		keys[role], cookies[role] = w.key(t, role), w.signIn(t, w.Member(t, role).UserID)
	}
	before := w.Rows(t)
	for _, role := range connectors.Roles {
		eachRoute(t, ids, func(t *testing.T, method, path, body string, needs connectors.Permission) {
			if role.May(needs) {
				return
			}
			w.call(t, keys[role], method, path, body).problem(http.StatusForbidden, "denied")
			w.call(t, keys[role], method, path+"?limit=no", `{`).problem(http.StatusForbidden, "denied")
			r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.AddCookie(cookies[role])
			w.serve(t, r).problem(http.StatusForbidden, "denied")
		})
	}
	w.unchanged(t, before)
}

// otherwise are the routes on which a role that may is told something else than a success: what they are for is not to be had here.
var otherwise = map[string]int{
	"DELETE /api/v1/sso":                                             http.StatusNotFound,   // it was never set up
	"POST /api/v1/sso/check":                                         http.StatusBadGateway, // nothing listens at the provider's address
	"POST /api/v1/sso/domains/verify":                                http.StatusNotFound,   // it was never claimed
	"POST /api/v1/sso/domains/release":                               http.StatusNotFound,
	"POST /api/v1/notices/read":                                      http.StatusConflict, // a key reads for nobody
	"POST /api/v1/agents/{id}/tool_calls":                            http.StatusUnprocessableEntity,
	"POST /connectors/{id}/sync_tools":                               http.StatusBadGateway, // nothing listens at the connector's address
	"POST /api/v1/connectors/{id}/sync_tools":                        http.StatusBadGateway,
	"POST /api/v1/connectors/{id}/connect":                           http.StatusConflict, // it does not sign in by OAuth
	"POST /api/v1/connectors/{id}/tools/{name}/accept":               http.StatusConflict, // nothing is to be decided
	"POST /api/v1/connectors/{id}/tools/{name}/reject":               http.StatusConflict,
	"POST /api/v1/connectors/{id}/instructions/accept":               http.StatusConflict,
	"POST /api/v1/connectors/{id}/instructions/reject":               http.StatusConflict,
	"POST /api/v1/connectors/{id}/agents/{agent}/credential/compare": http.StatusConflict, // likewise
	"PUT /api/v1/connectors/{id}/agents/{agent}/credential":          http.StatusConflict, // the connector has one for all
	"DELETE /api/v1/connectors/{id}/agents/{agent}/credential":       http.StatusNotFound,
	"DELETE /api/v1/members/{id}/second_factor":                      http.StatusNotFound, // they have none
	"DELETE /api/v1/connectors/{id}/credential":                      http.StatusNotFound, // it was not given one
}

func TestEachRoleDoesWhatItMay(t *testing.T) {
	t.Parallel()
	for _, role := range connectors.Roles {
		t.Run(string(role), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			key, shared := w.key(t, role), w.targetsIn(t, w.Tenant)
			for _, route := range slices.Sorted(maps.Keys(routes)) {
				if role.May(routes[route].needs) {
					w.does(t, key, route, shared)
				}
			}
		})
	}
}

// does asks for what a role may.
func (w *world) does(t *testing.T, key, route string, ids targets) {
	t.Helper()
	method, pattern, _ := strings.Cut(route, " ")
	if method == http.MethodDelete || strings.HasPrefix(pattern, "/api/v1/tool_calls/{id}/") {
		ids = w.targetsIn(t, w.Tenant) // they end what they are about
	}
	got, want := w.call(t, key, method, ids.path(pattern), routes[route].body), otherwise[route]
	if ok := got.status >= 200 && got.status < 300; !ok && got.status != want || ok && want != 0 {
		t.Errorf("%s: %d %s", route, got.status, got.body)
	}
}
