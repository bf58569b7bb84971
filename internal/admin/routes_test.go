package admin_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
)

// Access to a route: a permission, or one of these.
const (
	anyone  = connectors.Permission("anyone")
	oneself = connectors.Permission("oneself") // any signed-in person, for their own things
)

// routeRoles has the access of every route of the dashboard. A new route needs a row here.
var routeRoles = map[string]connectors.Permission{
	"GET /login":                          anyone,
	"POST /login":                         anyone,
	"GET /setup":                          anyone,
	"POST /setup":                         anyone,
	"GET /setup/invitation":               anyone,
	"POST /setup/invitation":              anyone,
	"POST /language":                      anyone,
	"GET /forgot":                         anyone,
	"POST /forgot":                        anyone,
	"GET /reset":                          anyone,
	"POST /reset":                         anyone,
	"POST /account/mail":                  oneself,
	"GET /login/code":                     anyone,
	"POST /login/code":                    anyone,
	"GET /account/second-factor":          connectors.PermRead,
	"POST /account/second-factor":         oneself,
	"POST /account/second-factor/confirm": oneself,
	"POST /account/second-factor/codes":   oneself,
	"POST /account/second-factor/remove":  oneself,
	"GET /unsent":                         connectors.PermRead,
	"GET /confirm":                        connectors.PermRead,
	"POST /confirm":                       oneself,
	"POST /confirm/sso":                   oneself,
	"POST /login/sso":                     anyone,
	"GET /login/sso/callback":             anyone,

	"GET /settings/sso":                  connectors.PermOwn,
	"GET /settings/scim":                 connectors.PermOwn,
	"POST /settings/scim":                connectors.PermOwn,
	"POST /settings/scim/rotate":         connectors.PermOwn,
	"POST /settings/scim/disable":        connectors.PermOwn,
	"POST /settings/sso":                 connectors.PermOwn,
	"POST /settings/sso/test":            connectors.PermOwn,
	"POST /settings/sso/delete":          connectors.PermOwn,
	"POST /settings/sso/domains":         connectors.PermOwn,
	"POST /settings/sso/domains/verify":  connectors.PermOwn,
	"POST /settings/sso/domains/release": connectors.PermOwn,

	"GET /connect/done":     anyone,
	"GET /connect/{token}":  anyone,
	"GET /oauth/callback":   anyone,
	"POST /connect/{token}": anyone,

	"POST /logout":           oneself,
	"POST /tenant":           oneself,
	"POST /account/password": oneself,
	"POST /account/sign-out": oneself,

	"POST /account/sessions/{id}/revoke": oneself,
	"POST /account/programs/{id}/revoke": oneself,

	"GET /account/connections":                                     connectors.PermRead,
	"GET /account/connections/{agent}/{connector}":                 connectors.PermRead,
	"POST /account/connections/{agent}/{connector}/connect":        oneself,
	"POST /account/connections/{agent}/{connector}/credential":     oneself,
	"POST /account/connections/{agent}/{connector}/account/rename": oneself,
	"POST /account/connections/{agent}/{connector}/disconnect":     oneself,

	"GET /oauth/authorize":  connectors.PermRead,
	"POST /oauth/authorize": oneself,

	"POST /agents/{id}/programs/{program}/revoke": connectors.PermManage,

	"GET /notices": connectors.PermRead,

	"GET /audit":                                          connectors.PermAudit,
	"POST /audit/verify":                                  connectors.PermAudit,
	"GET /audit/export.jsonl":                             connectors.PermAudit,
	"GET /audit/export.sig":                               connectors.PermAudit,
	"GET /audit/streams":                                  connectors.PermManage,
	"POST /audit/streams":                                 connectors.PermManage,
	"GET /audit/streams/{id}":                             connectors.PermManage,
	"POST /audit/streams/{id}":                            connectors.PermManage,
	"POST /audit/streams/{id}/test":                       connectors.PermManage,
	"POST /audit/streams/{id}/delete":                     connectors.PermManage,
	"GET /registries":                                     connectors.PermManage,
	"POST /registries":                                    connectors.PermManage,
	"GET /registries/new":                                 connectors.PermManage,
	"GET /registries/{id}":                                connectors.PermManage,
	"POST /registries/{id}":                               connectors.PermManage,
	"POST /registries/{id}/rotate":                        connectors.PermManage,
	"POST /registries/{id}/delete":                        connectors.PermManage,
	"GET /exports/registries":                             connectors.PermManage,
	"GET /webhooks":                                       connectors.PermManage,
	"POST /webhooks":                                      connectors.PermManage,
	"GET /webhooks/{id}":                                  connectors.PermManage,
	"POST /webhooks/{id}":                                 connectors.PermManage,
	"POST /webhooks/{id}/test":                            connectors.PermManage,
	"POST /webhooks/{id}/rotate":                          connectors.PermManage,
	"POST /webhooks/{id}/delete":                          connectors.PermManage,
	"POST /webhooks/{id}/deliveries/{delivery}/redeliver": connectors.PermManage,

	"GET /":                                     connectors.PermRead,
	"GET /account":                              connectors.PermRead,
	"GET /agents":                               connectors.PermRead,
	"GET /agents/{id}":                          connectors.PermRead,
	"GET /agents/{id}/access":                   connectors.PermRead,
	"GET /access":                               connectors.PermRead,
	"GET /access/requests":                      connectors.PermRead,
	"GET /access/requests/{id}":                 connectors.PermRead,
	"GET /access/request":                       connectors.PermOperate,
	"POST /access/request":                      connectors.PermOperate,
	"POST /access/requests/{id}/withdraw":       connectors.PermOperate,
	"POST /access/requests/{id}/accept":         connectors.PermManage,
	"POST /access/requests/{id}/refuse":         connectors.PermManage,
	"GET /connectors/{id}/access":               connectors.PermRead,
	"GET /connectors/{id}/calls":                connectors.PermRead,
	"GET /connectors/{id}/changes":              connectors.PermRead,
	"POST /agents/{id}/access":                  connectors.PermManage,
	"POST /connectors/{id}/access":              connectors.PermManage,
	"POST /bulk/connectors":                     connectors.PermOperate,
	"GET /agents/{id}/connect":                  connectors.PermRead,
	"GET /agents/{id}/connectors/{connector}":   connectors.PermRead,
	"GET /agents/{id}/tools":                    connectors.PermRead,
	"GET /agents/{id}/resources":                connectors.PermRead,
	"GET /agents/{id}/tools/{exposed}":          connectors.PermRead,
	"GET /approvals":                            connectors.PermRead,
	"GET /approvals/{id}":                       connectors.PermRead,
	"GET /calls":                                connectors.PermRead,
	"GET /calls/{id}":                           connectors.PermRead,
	"GET /calls/{id}/pictures/{n}":              connectors.PermRead,
	"GET /connectors":                           connectors.PermRead,
	"GET /connectors/export":                    connectors.PermRead,
	"GET /catalog":                              connectors.PermRead,
	"POST /catalog/{slug}/add":                  connectors.PermManage,
	"GET /catalog/registry":                     connectors.PermManage,
	"POST /catalog/registry":                    connectors.PermManage,
	"POST /catalog/registry/preview":            connectors.PermManage,
	"GET /connectors/{id}":                      connectors.PermRead,
	"GET /connectors/{id}/credentials":          connectors.PermRead,
	"GET /connectors/{id}/operations":           connectors.PermRead,
	"POST /connectors/{id}/operations":          connectors.PermManage,
	"POST /connectors/{id}/operations/select":   connectors.PermManage,
	"GET /connectors/{id}/endpoint":             connectors.PermManage,
	"POST /connectors/{id}/endpoint":            connectors.PermManage,
	"POST /connectors/{id}/tools/{tool}/answer": connectors.PermManage,
	"GET /connectors/{id}/prompts":              connectors.PermRead,
	"GET /connectors/{id}/resources":            connectors.PermRead,
	"GET /connectors/{id}/runs":                 connectors.PermRead,
	"GET /connectors/{id}/runs/{run}":           connectors.PermRead,
	"GET /connectors/{id}/icon":                 connectors.PermRead,
	"GET /connectors/{id}/tools":                connectors.PermRead,
	"GET /connectors/{id}/tools/{tool}":         connectors.PermRead,
	"GET /events":                               connectors.PermRead,
	"GET /changes":                              connectors.PermRead,
	"GET /connectors/{id}/credentials/missing":  connectors.PermRead,

	"GET /connectors/{id}/tools/{tool}/changes":          connectors.PermRead,
	"GET /connectors/{id}/tools/{tool}/changes/{change}": connectors.PermRead,
	"GET /connectors/{id}/instructions/changes":          connectors.PermRead,
	"POST /connectors/{id}/tools":                        connectors.PermManage,
	"POST /connectors/{id}/tools/{tool}/curate":          connectors.PermManage,
	"POST /connectors/{id}/tools/{tool}/accept":          connectors.PermManage,
	"POST /connectors/{id}/tools/{tool}/keep":            connectors.PermManage,
	"POST /connectors/{id}/tools/{tool}/withdraw":        connectors.PermManage,
	"POST /connectors/{id}/tools/{tool}/restore":         connectors.PermManage,
	"POST /connectors/{id}/instructions/restore":         connectors.PermManage,
	"POST /changes/undo":                                 connectors.PermManage,
	"POST /changes/decide":                               connectors.PermManage,
	"POST /connectors/{id}/instructions/accept":          connectors.PermManage,
	"POST /connectors/{id}/instructions/reject":          connectors.PermManage,
	"POST /connectors/{id}/tools/{tool}/reject":          connectors.PermManage,
	"POST /changes/accept_cosmetic":                      connectors.PermManage,
	"GET /tools":                                         connectors.PermRead,
	"GET /search":                                        connectors.PermRead,

	"POST /connectors/{id}/sync_tools":        connectors.PermOperate,
	"POST /connectors/{id}/runs/{run}/cancel": connectors.PermOperate,
	"POST /sync_tools":                        connectors.PermOperate,
	"POST /approvals/{id}/approve":            connectors.PermOperate,
	"POST /approvals/{id}/deny":               connectors.PermOperate,
	"POST /calls/{id}/cancel":                 connectors.PermOperate,
	"POST /connectors/{id}/tools/{tool}/try":  connectors.PermOperate,

	"GET /agents/new":                                                connectors.PermManage,
	"GET /start/agent":                                               connectors.PermManage,
	"POST /start/agent":                                              connectors.PermManage,
	"POST /start/dismiss":                                            connectors.PermManage,
	"GET /connectors/{id}/start":                                     connectors.PermManage,
	"GET /connectors/new":                                            connectors.PermManage,
	"GET /connectors/import":                                         connectors.PermManage,
	"POST /connectors/import":                                        connectors.PermManage,
	"POST /connectors/import/preview":                                connectors.PermManage,
	"GET /connectors/{id}/settings":                                  connectors.PermManage,
	"POST /agents":                                                   connectors.PermManage,
	"POST /agents/{id}":                                              connectors.PermManage,
	"GET /agents/{id}/unused":                                        connectors.PermRead,
	"POST /agents/{id}/unused":                                       connectors.PermManage,
	"POST /agents/{id}/pins":                                         connectors.PermManage,
	"POST /agents/{id}/delete":                                       connectors.PermManage,
	"POST /agents/{id}/tools/{exposed}/shaping":                      connectors.PermManage,
	"GET /agents/{id}/settings":                                      connectors.PermManage,
	"POST /agents/{id}/connectors/{connector}":                       connectors.PermManage,
	"POST /agents/{id}/connectors/{connector}/choose":                connectors.PermManage,
	"POST /agents/{id}/connectors/{connector}/remove":                connectors.PermManage,
	"POST /agents/{id}/tokens":                                       connectors.PermManage,
	"POST /agents/{id}/workloads":                                    connectors.PermManage,
	"POST /agents/{id}/workloads/{workload}/remove":                  connectors.PermManage,
	"POST /agents/{id}/tokens/{token}/revoke":                        connectors.PermManage,
	"POST /connectors":                                               connectors.PermManage,
	"POST /connectors/test":                                          connectors.PermManage,
	"POST /connectors/{id}":                                          connectors.PermManage,
	"POST /connectors/{id}/agents/{agent}/credential":                connectors.PermManage,
	"POST /connectors/{id}/agents/{agent}/credential/delete":         connectors.PermManage,
	"POST /connectors/{id}/agents/{agent}/connect":                   connectors.PermManage,
	"POST /connectors/{id}/agents/{agent}/connect-link":              connectors.PermManage,
	"POST /connectors/{id}/agents/{agent}/disconnect":                connectors.PermManage,
	"POST /connectors/{id}/connect":                                  connectors.PermManage,
	"POST /connectors/{id}/account/rename":                           connectors.PermManage,
	"POST /connectors/{id}/agents/{agent}/account/rename":            connectors.PermManage,
	"POST /connectors/{id}/account/syncs":                            connectors.PermManage,
	"POST /connectors/{id}/agents/{agent}/account/syncs":             connectors.PermManage,
	"POST /connectors/{id}/connect-link":                             connectors.PermManage,
	"POST /connectors/{id}/credential":                               connectors.PermManage,
	"POST /connectors/{id}/credential/delete":                        connectors.PermManage,
	"POST /connectors/{id}/delete":                                   connectors.PermManage,
	"POST /connectors/{id}/diagnose":                                 connectors.PermManage,
	"POST /connectors/{id}/disconnect":                               connectors.PermManage,
	"POST /connectors/{id}/enabled":                                  connectors.PermManage,
	"POST /connectors/{id}/acknowledge_tools":                        connectors.PermManage,
	"POST /connectors/{id}/listen":                                   connectors.PermManage,
	"POST /connectors/{id}/ping":                                     connectors.PermOperate,
	"POST /connectors/{id}/methods":                                  connectors.PermManage,
	"POST /agents/{id}/connectors/{connector}/allowances/{tool}/end": connectors.PermOperate,

	"GET /exports/connectors":                connectors.PermRead,
	"GET /exports/connectors/{id}/tools":     connectors.PermRead,
	"GET /exports/connectors/{id}/runs":      connectors.PermRead,
	"GET /exports/tools":                     connectors.PermRead,
	"GET /exports/account":                   connectors.PermRead,
	"GET /exports/agents/{id}/access":        connectors.PermRead,
	"GET /exports/agents/{id}/connect":       connectors.PermRead,
	"GET /exports/agents/{id}/tools":         connectors.PermRead,
	"GET /exports/agents/{id}/resources":     connectors.PermRead,
	"GET /exports/connectors/{id}/prompts":   connectors.PermRead,
	"GET /exports/connectors/{id}/resources": connectors.PermRead,
	"GET /exports/webhooks":                  connectors.PermManage,
	"GET /webhooks/new":                      connectors.PermManage,

	"GET /exports/connectors/{id}/credentials": connectors.PermRead,

	"GET /exports/agents":        connectors.PermRead,
	"GET /exports/calls":         connectors.PermRead,
	"GET /tasks":                 connectors.PermRead,
	"GET /exports/tasks":         connectors.PermRead,
	"GET /exports/approvals":     connectors.PermRead,
	"GET /exports/changes":       connectors.PermRead,
	"GET /exports/audit":         connectors.PermAudit,
	"GET /exports/webhooks/{id}": connectors.PermManage,
	"GET /exports/members":       connectors.PermOwn,
	"GET /exports/api-keys":      connectors.PermOwn,

	"GET /api-keys":              connectors.PermOwn,
	"GET /members":               connectors.PermOwn,
	"GET /settings":              connectors.PermOwn,
	"POST /api-keys":             connectors.PermOwn,
	"POST /api-keys/{id}/revoke": connectors.PermOwn,
	"POST /members":              connectors.PermOwn,
	"POST /members/{id}/delete":  connectors.PermOwn,
	"POST /members/{id}/role":    connectors.PermOwn,

	"POST /members/{id}/second-factor/remove": connectors.PermOwn,

	"POST /members/{id}/sign-out": connectors.PermOwn,

	"POST /usage/reset":                            connectors.PermManage,
	"POST /members/{id}/programs/{program}/revoke": connectors.PermOwn,

	"POST /settings": connectors.PermOwn,

	"POST /invitations":             connectors.PermOwn,
	"POST /invitations/{id}/send":   connectors.PermOwn,
	"POST /invitations/{id}/revoke": connectors.PermOwn,
}

// routes are the mounted routes, "METHOD pattern".
func (d *dashboard) routes() []string {
	d.t.Helper()
	var routes []string
	err := chi.Walk(d.router, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		routes = append(routes, method+" "+route)
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	if len(routes) < 150 {
		d.t.Fatalf("only %d routes: %q", len(routes), routes)
	}
	slices.Sort(routes)
	return routes
}

func TestEveryRouteSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	mounted := d.routes()
	for _, route := range mounted {
		if _, ok := routeRoles[route]; !ok {
			t.Errorf("%s has no row in routeRoles", route)
		}
	}
	for _, route := range slices.Sorted(maps.Keys(routeRoles)) {
		if !slices.Contains(mounted, route) {
			t.Errorf("%s has a row and is not mounted", route)
		}
	}
}

// mayUse reports whether a role has access to a route.
func mayUse(r connectors.Role, needs connectors.Permission) bool {
	return needs == anyone || needs == oneself || r.May(needs)
}

// notOwners are the roles that are refused somewhere.
func notOwners() []connectors.Role {
	return slices.DeleteFunc(slices.Clone(connectors.Roles), func(r connectors.Role) bool { return r == connectors.RoleOwner })
}

func TestRoutes_RefuseOtherRoles(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ids, low := d.ownThings(), notOwners()
	var browsers []*browser
	for _, role := range low {
		browsers = append(browsers, d.signInAsRole(role))
	}
	before := d.snapshot()
	for i, role := range low {
		b := browsers[i]
		for route, needs := range routeRoles {
			if mayUse(role, needs) {
				continue
			}
			method, pattern, _ := strings.Cut(route, " ")
			var form url.Values
			if method == http.MethodPost {
				form = url.Values{"enabled": {"false"}, "name": {"Changed"}}
			}
			if p := b.do(method, ids.fill(pattern), form); p.Status != http.StatusForbidden {
				t.Errorf("%s as %s: %d, want 403", route, role, p.Status)
			}
		}
	}
	d.wantUnchanged(before)
}

// snapshot is a hash of all tenants' rows.
func (d *dashboard) snapshot() string {
	d.t.Helper()
	return d.Rows(d.t)
}

// wantUnchanged fails the test if a tenant's rows changed.
func (d *dashboard) wantUnchanged(before string) {
	d.t.Helper()
	if diff := cmp.Diff(strings.Split(before, "\n"), strings.Split(d.snapshot(), "\n")); diff != "" {
		d.t.Errorf("what was refused changed something (-before +after):\n%s", diff)
	}
}

func TestRoutes_OtherTenantOrMissingIsNotFound(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleOwner)
	own, theirs := d.ownThings(), d.createThings(d.Other)
	before := d.snapshot()
	nowhere, odd := uuid.NewString(), "Not-An-Id!"
	unknown := things{offer: "nothing", connector: nowhere, agent: nowhere, member: nowhere, key: nowhere, tool: "nothing", token: nowhere, workload: nowhere, waiting: nowhere, picture: nowhere, webhook: nowhere, delivery: nowhere, run: nowhere, session: nowhere, registry: nowhere, stream: nowhere, request: nowhere}
	malformed := things{offer: odd, connector: odd, agent: odd, member: odd, key: odd, tool: "nothing", token: odd, workload: odd, waiting: odd, picture: odd, webhook: odd, delivery: odd, run: odd, session: odd, registry: odd, stream: odd, request: odd}
	for route := range routeRoles {
		method, pattern, _ := strings.Cut(route, " ")
		if !strings.Contains(pattern, "{") {
			continue
		}
		for name, ids := range map[string]things{"another tenant's": theirs, "unknown": unknown, "malformed": malformed} {
			var form url.Values
			if method == http.MethodPost {
				form = url.Values{"role": {"admin"}, "enabled": {"false"}, "name": {"Changed"}, "token": {"t"}}
			}
			if p := b.do(method, ids.fill(pattern), form); p.Status != http.StatusNotFound {
				t.Errorf("%s with %s id: %d, want 404 (to %q)", route, name, p.Status, p.Location)
			}
			mixed := ids
			switch {
			case strings.Contains(pattern, "{agent}"):
				mixed.connector = own.connector
			case strings.Contains(pattern, "{delivery}"):
				mixed.webhook = own.webhook
			case strings.Contains(pattern, "{connector}"), strings.Contains(pattern, "{token}/"), strings.Contains(pattern, "{workload}/"):
				mixed.agent = own.agent
			default:
				continue
			}
			if p := b.do(method, mixed.fill(pattern), form); p.Status != http.StatusNotFound {
				t.Errorf("%s with %s thing beside one's own: %d, want 404", route, name, p.Status)
			}
		}
	}
	d.wantUnchanged(before)
}
