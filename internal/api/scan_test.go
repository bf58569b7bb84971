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

// publicRoutes need no permission, and have no row in routes.
var publicRoutes = []string{"GET /openapi.json", "HEAD /openapi.json"}

func TestRoutes_HaveRowAndDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	documented := map[string]connectors.Permission{}
	for path, operations := range w.readDocument(t)["paths"].(map[string]any) {
		for method, op := range operations.(map[string]any) {
			needs, _ := op.(map[string]any)["x-permission"].(string)
			documented[strings.ToUpper(method)+" "+path] = connectors.Permission(needs)
			if least := op.(map[string]any)["x-least-role"]; least != string(connectors.LowestRole(connectors.Permission(needs))) {
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
	mounted := slices.Sorted(slices.Values(w.mountedRoutes(t)))
	if diff := cmp.Diff(slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(routes)), publicRoutes...))), mounted); diff != "" {
		t.Errorf("routes (-rows +mounted):\n%s", diff)
	}
}

// mountedRoutes are the router's routes, "METHOD pattern".
func (w *world) mountedRoutes(t *testing.T) []string {
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

// wantUnchanged fails the test if a tenant's rows changed.
func (w *world) wantUnchanged(t *testing.T, before string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(before, "\n"), strings.Split(w.Rows(t), "\n")); diff != "" {
		t.Errorf("what was refused changed something (-before +after):\n%s", diff)
	}
}

func TestNobodyWithoutAKeyGetsIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	revoked := w.createKey(t, connectors.RoleOwner)
	w.revokeKey(t, revoked)
	owner := w.createKey(t, connectors.RoleOwner)
	ids := w.createTargets(t, w.Tenant)
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
	w.wantUnchanged(t, before)
}

func TestRoutes_RefuseOtherRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.createTargets(t, w.Tenant)
	keys, cookies := map[connectors.Role]string{}, map[connectors.Role]*http.Cookie{}
	for _, role := range connectors.Roles {
		keys[role], cookies[role] = w.createKey(t, role), w.signIn(t, w.Member(t, role).UserID)
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
	w.wantUnchanged(t, before)
}

// expectedStatus has the routes without a success here for an allowed role.
var expectedStatus = map[string]int{
	"POST /api/v1/access_requests":                                   http.StatusNotFound,   // no agent in the body
	"POST /api/v1/access_requests/{id}/withdraw":                     http.StatusConflict,   // another's request
	"POST /api/v1/access_requests/{id}/refuse":                       http.StatusConflict,   // it was accepted
	"POST /api/v1/scim":                                              http.StatusConflict,   // it is on
	"DELETE /api/v1/sso":                                             http.StatusNotFound,   // it was never set up
	"POST /api/v1/sso/check":                                         http.StatusBadGateway, // nothing listens at the provider's address
	"POST /api/v1/sso/domains/verify":                                http.StatusNotFound,   // it was never claimed
	"POST /api/v1/sso/domains/release":                               http.StatusNotFound,
	"POST /api/v1/notices/read":                                      http.StatusConflict,            // a key has no read marks
	"POST /api/v1/connectors/{id}/methods":                           http.StatusUnprocessableEntity, // it allows none
	"POST /api/v1/agents/{id}/tool_calls":                            http.StatusUnprocessableEntity,
	"POST /connectors/{id}/sync_tools":                               http.StatusBadGateway, // nothing listens at the connector's address
	"POST /api/v1/connectors/{id}/sync_tools":                        http.StatusBadGateway,
	"POST /api/v1/connectors/{id}/connect":                           http.StatusConflict, // it does not use OAuth
	"POST /api/v1/connectors/{id}/tools/{name}/call":                 http.StatusConflict, // an earlier request switched it off
	"POST /api/v1/connectors/{id}/tools/{name}/accept":               http.StatusConflict, // no change waits
	"POST /api/v1/connectors/{id}/tools/{name}/reject":               http.StatusConflict,
	"POST /api/v1/connectors/{id}/tools/{name}/keep":                 http.StatusConflict,
	"POST /api/v1/connectors/{id}/tools/{name}/restore":              http.StatusNotFound, // the history has no such definition
	"POST /api/v1/connectors/{id}/instructions/restore":              http.StatusNotFound,
	"POST /api/v1/connectors/{id}/skills/{uri}/accept":               http.StatusConflict,
	"POST /api/v1/connectors/{id}/skills/{uri}/restore":              http.StatusNotFound,
	"POST /api/v1/tool_changes/decide":                               http.StatusNotFound, // its connector
	"POST /api/v1/connectors/{id}/instructions/accept":               http.StatusConflict,
	"POST /api/v1/connectors/{id}/instructions/reject":               http.StatusConflict,
	"POST /api/v1/connectors/{id}/agents/{agent}/credential/compare": http.StatusConflict, // likewise
	"PUT /api/v1/connectors/{id}/agents/{agent}/credential":          http.StatusConflict, // the connector's credential is shared
	"DELETE /api/v1/connectors/{id}/agents/{agent}/credential":       http.StatusNotFound,
	"PATCH /api/v1/connectors/{id}/agents/{agent}/credential":        http.StatusConflict, // likewise
	"PATCH /api/v1/connectors/{id}/credential":                       http.StatusNotFound, // none is stored
	"DELETE /api/v1/members/{id}/second_factor":                      http.StatusNotFound, // they have none
	"DELETE /api/v1/connectors/{id}/credential":                      http.StatusNotFound, // it was not given one
}

func TestEachRoleDoesWhatItMay(t *testing.T) {
	t.Parallel()
	for _, role := range connectors.Roles {
		t.Run(string(role), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			key, shared := w.createKey(t, role), w.createTargets(t, w.Tenant)
			for _, route := range slices.Sorted(maps.Keys(routes)) {
				if role.May(routes[route].needs) {
					w.callRoute(t, key, route, shared)
				}
			}
		})
	}
}

// callRoute calls a route as an allowed role.
func (w *world) callRoute(t *testing.T, key, route string, ids targets) {
	t.Helper()
	method, pattern, _ := strings.Cut(route, " ")
	ends := method == http.MethodDelete && !strings.HasSuffix(pattern, "/shaping")
	if ends || strings.HasPrefix(pattern, "/api/v1/tool_calls/{id}/") {
		ids = w.createTargets(t, w.Tenant) // it ends its things
	}
	got, want := w.call(t, key, method, ids.fillPattern(pattern), routes[route].body), expectedStatus[route]
	if ok := got.status >= 200 && got.status < 300; !ok && got.status != want || ok && want != 0 {
		t.Errorf("%s: %d %s", route, got.status, got.body)
	}
	if ends { // a tenant has few webhooks and registries
		w.enableSCIM(t, w.Tenant)
		w.AsOwner(t, "delete from webhooks where id = '"+ids.webhook+"'", "delete from registries where id = '"+ids.registry+"'", "delete from audit_streams where id = '"+ids.stream+"'")
	}
}
