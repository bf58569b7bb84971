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

// Who may use a route: a role, or one of these.
const (
	anyone  = connectors.Role("anyone")
	oneself = connectors.Role("oneself") // whoever is signed in, for what is their own
)

// routeRoles says the least role of every route of the dashboard. A new route needs a row here.
var routeRoles = map[string]connectors.Role{
	"GET /login":  anyone,
	"POST /login": anyone,
	"GET /setup":  anyone,
	"POST /setup": anyone,

	"GET /setup/invitation":  anyone,
	"POST /setup/invitation": anyone,

	"POST /language": anyone,

	"POST /login/sso":         anyone,
	"GET /login/sso/callback": anyone,

	"GET /settings/sso":                  connectors.RoleOwner,
	"POST /settings/sso":                 connectors.RoleOwner,
	"POST /settings/sso/test":            connectors.RoleOwner,
	"POST /settings/sso/delete":          connectors.RoleOwner,
	"POST /settings/sso/domains":         connectors.RoleOwner,
	"POST /settings/sso/domains/verify":  connectors.RoleOwner,
	"POST /settings/sso/domains/release": connectors.RoleOwner,

	"GET /connect/done":     anyone,
	"GET /connect/{token}":  anyone,
	"GET /oauth/callback":   anyone,
	"POST /connect/{token}": anyone,

	"POST /logout":           oneself,
	"POST /tenant":           oneself,
	"POST /account/password": oneself,
	"POST /account/sign-out": oneself,

	"POST /account/sessions/{id}/revoke": oneself,

	"GET /notices":       connectors.RoleViewer,
	"POST /notices/read": oneself,

	"GET /audit":                 connectors.RoleAdmin,
	"POST /audit/verify":         connectors.RoleAdmin,
	"GET /audit/export.jsonl":    connectors.RoleAdmin,
	"GET /audit/export.sig":      connectors.RoleAdmin,
	"GET /webhooks":              connectors.RoleAdmin,
	"POST /webhooks":             connectors.RoleAdmin,
	"GET /webhooks/{id}":         connectors.RoleAdmin,
	"POST /webhooks/{id}":        connectors.RoleAdmin,
	"POST /webhooks/{id}/test":   connectors.RoleAdmin,
	"POST /webhooks/{id}/rotate": connectors.RoleAdmin,
	"POST /webhooks/{id}/delete": connectors.RoleAdmin,
	"POST /webhooks/{id}/deliveries/{delivery}/redeliver": connectors.RoleAdmin,

	"GET /":                    connectors.RoleViewer,
	"GET /account":             connectors.RoleViewer,
	"GET /agents":              connectors.RoleViewer,
	"GET /agents/{id}":         connectors.RoleViewer,
	"GET /agents/{id}/access":  connectors.RoleViewer,
	"GET /agents/{id}/connect": connectors.RoleViewer,
	"GET /agents/{id}/connectors/{connector}": connectors.RoleViewer,
	"GET /agents/{id}/tools":                  connectors.RoleViewer,
	"GET /agents/{id}/tools/{exposed}":        connectors.RoleViewer,
	"GET /approvals":                          connectors.RoleViewer,
	"GET /approvals/{id}":                     connectors.RoleViewer,
	"GET /calls":                              connectors.RoleViewer,
	"GET /calls/{id}":                         connectors.RoleViewer,
	"GET /calls/{id}/pictures/{n}":            connectors.RoleViewer,
	"GET /connectors":                         connectors.RoleViewer,
	"GET /connectors/export":                  connectors.RoleViewer,
	"GET /catalog":                            connectors.RoleViewer,
	"POST /catalog/{slug}/add":                connectors.RoleAdmin,
	"GET /catalog/registry":                   connectors.RoleAdmin,
	"POST /catalog/registry":                  connectors.RoleAdmin,
	"POST /catalog/registry/preview":          connectors.RoleAdmin,
	"GET /connectors/{id}":                    connectors.RoleViewer,
	"GET /connectors/{id}/credentials":        connectors.RoleViewer,
	"GET /connectors/{id}/runs":               connectors.RoleViewer,
	"GET /connectors/{id}/runs/{run}":         connectors.RoleViewer,
	"GET /connectors/{id}/tools":              connectors.RoleViewer,
	"GET /connectors/{id}/tools/{tool}":       connectors.RoleViewer,
	"GET /events":                             connectors.RoleViewer,
	"GET /changes":                            connectors.RoleViewer,

	"GET /connectors/{id}/tools/{tool}/changes":          connectors.RoleViewer,
	"GET /connectors/{id}/tools/{tool}/changes/{change}": connectors.RoleViewer,
	"GET /connectors/{id}/instructions/changes":          connectors.RoleViewer,
	"POST /connectors/{id}/tools":                        connectors.RoleAdmin,
	"POST /connectors/{id}/tools/{tool}/curate":          connectors.RoleAdmin,
	"POST /connectors/{id}/tools/{tool}/accept":          connectors.RoleAdmin,
	"POST /connectors/{id}/instructions/accept":          connectors.RoleAdmin,
	"POST /connectors/{id}/instructions/reject":          connectors.RoleAdmin,
	"POST /connectors/{id}/tools/{tool}/reject":          connectors.RoleAdmin,
	"POST /changes/accept_cosmetic":                      connectors.RoleAdmin,
	"GET /tools":                                         connectors.RoleViewer,
	"GET /search":                                        connectors.RoleViewer,

	"POST /connectors/{id}/sync_tools":       connectors.RoleMember,
	"POST /sync_tools":                       connectors.RoleMember,
	"POST /approvals/{id}/approve":           connectors.RoleMember,
	"POST /approvals/{id}/deny":              connectors.RoleMember,
	"POST /calls/{id}/cancel":                connectors.RoleMember,
	"POST /connectors/{id}/tools/{tool}/try": connectors.RoleMember,

	"GET /agents/new":                                        connectors.RoleAdmin,
	"GET /connectors/new":                                    connectors.RoleAdmin,
	"GET /connectors/import":                                 connectors.RoleAdmin,
	"POST /connectors/import":                                connectors.RoleAdmin,
	"POST /connectors/import/preview":                        connectors.RoleAdmin,
	"GET /connectors/{id}/settings":                          connectors.RoleAdmin,
	"POST /agents":                                           connectors.RoleAdmin,
	"POST /agents/{id}":                                      connectors.RoleAdmin,
	"GET /agents/{id}/unused":                                connectors.RoleViewer,
	"POST /agents/{id}/unused":                               connectors.RoleAdmin,
	"POST /agents/{id}/delete":                               connectors.RoleAdmin,
	"GET /agents/{id}/settings":                              connectors.RoleAdmin,
	"POST /agents/{id}/connectors/{connector}":               connectors.RoleAdmin,
	"POST /agents/{id}/connectors/{connector}/choose":        connectors.RoleAdmin,
	"POST /agents/{id}/connectors/{connector}/remove":        connectors.RoleAdmin,
	"POST /agents/{id}/tokens":                               connectors.RoleAdmin,
	"POST /agents/{id}/tokens/{token}/revoke":                connectors.RoleAdmin,
	"POST /connectors":                                       connectors.RoleAdmin,
	"POST /connectors/test":                                  connectors.RoleAdmin,
	"POST /connectors/{id}":                                  connectors.RoleAdmin,
	"POST /connectors/{id}/agents/{agent}/credential":        connectors.RoleAdmin,
	"POST /connectors/{id}/agents/{agent}/credential/delete": connectors.RoleAdmin,
	"POST /connectors/{id}/agents/{agent}/connect":           connectors.RoleAdmin,
	"POST /connectors/{id}/agents/{agent}/connect-link":      connectors.RoleAdmin,
	"POST /connectors/{id}/agents/{agent}/disconnect":        connectors.RoleAdmin,
	"POST /connectors/{id}/connect":                          connectors.RoleAdmin,
	"POST /connectors/{id}/connect-link":                     connectors.RoleAdmin,
	"POST /connectors/{id}/credential":                       connectors.RoleAdmin,
	"POST /connectors/{id}/credential/delete":                connectors.RoleAdmin,
	"POST /connectors/{id}/delete":                           connectors.RoleAdmin,
	"POST /connectors/{id}/diagnose":                         connectors.RoleAdmin,
	"POST /connectors/{id}/disconnect":                       connectors.RoleAdmin,
	"POST /connectors/{id}/enabled":                          connectors.RoleAdmin,
	"POST /connectors/{id}/listen":                           connectors.RoleAdmin,

	"GET /exports/connectors":            connectors.RoleViewer,
	"GET /exports/connectors/{id}/tools": connectors.RoleViewer,
	"GET /exports/connectors/{id}/runs":  connectors.RoleViewer,
	"GET /exports/tools":                 connectors.RoleViewer,
	"GET /exports/agents":                connectors.RoleViewer,
	"GET /exports/calls":                 connectors.RoleViewer,
	"GET /tasks":                         connectors.RoleViewer,
	"GET /exports/tasks":                 connectors.RoleViewer,
	"GET /exports/approvals":             connectors.RoleViewer,
	"GET /exports/changes":               connectors.RoleViewer,
	"GET /exports/audit":                 connectors.RoleAdmin,
	"GET /exports/webhooks/{id}":         connectors.RoleAdmin,
	"GET /exports/members":               connectors.RoleOwner,
	"GET /exports/api-keys":              connectors.RoleOwner,

	"GET /api-keys":              connectors.RoleOwner,
	"GET /members":               connectors.RoleOwner,
	"GET /settings":              connectors.RoleOwner,
	"POST /api-keys":             connectors.RoleOwner,
	"POST /api-keys/{id}/revoke": connectors.RoleOwner,
	"POST /members":              connectors.RoleOwner,
	"POST /members/{id}/delete":  connectors.RoleOwner,
	"POST /members/{id}/role":    connectors.RoleOwner,

	"POST /members/{id}/sign-out": connectors.RoleOwner,
	"POST /settings":              connectors.RoleOwner,

	"POST /invitations":             connectors.RoleOwner,
	"POST /invitations/{id}/send":   connectors.RoleOwner,
	"POST /invitations/{id}/revoke": connectors.RoleOwner,
}

// routes are the routes as they are mounted, "METHOD pattern".
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
	slices.Sort(routes)
	return routes
}

// things are the ids that paths are filled with.
type things struct {
	connector, agent, member, key, invitation, tool, link, token, waiting, picture, webhook, delivery, change, run, session string

	offer string // an entry of the catalog, which is everybody's
}

func (x things) fill(pattern string) string {
	id, token := x.connector, x.link
	switch {
	case strings.HasPrefix(pattern, "/calls/{id}/pictures"):
		id = x.picture
	case strings.HasPrefix(pattern, "/calls"), strings.HasPrefix(pattern, "/approvals"):
		id = x.waiting
	case strings.HasPrefix(pattern, "/agents"):
		id, token = x.agent, x.token
	case strings.HasPrefix(pattern, "/account/sessions"):
		id = x.session
	case strings.HasPrefix(pattern, "/members"):
		id = x.member
	case strings.HasPrefix(pattern, "/invitations"):
		id = x.invitation
	case strings.HasPrefix(pattern, "/api-keys"):
		id = x.key
	case strings.HasPrefix(pattern, "/webhooks"), strings.HasPrefix(pattern, "/exports/webhooks"):
		id = x.webhook
	}
	return strings.NewReplacer(
		"{id}", id, "{agent}", x.agent, "{tool}", x.tool, "{token}", token, "{connector}", x.connector, "{exposed}", "mcp_any__"+x.tool, "{delivery}", x.delivery, "{n}", "0", "{change}", x.change, "{run}", x.run, "{slug}", x.offer,
	).Replace(pattern)
}

// own are things of the tenant.
func (d *dashboard) own() things {
	d.t.Helper()
	x := d.thingsOf(d.Tenant)
	x.offer = "linear"
	return x
}

func (d *dashboard) thingsOf(tenant connectors.TenantID) things {
	d.t.Helper()
	c := d.ConnectorIn(d.t, tenant)
	run := d.SyncedIn(d.t, tenant, c.ID, "search")
	a := d.AgentIn(d.t, tenant)
	member := d.MemberIn(d.t, tenant, connectors.RoleViewer).UserID
	d.GrantIn(d.t, tenant, a.ID, c.ID)
	d.taskIn(tenant, a, c, working("of the tenant"))
	hook, delivery := d.webhookIn(tenant)
	return things{
		offer:   "nothing",
		webhook: hook.ID.String(), delivery: delivery.ID.String(),
		change:    d.changeIn(tenant, c.ID).String(),
		connector: c.ID.String(), tool: "search", run: run.ID.String(),
		agent:   a.ID.String(),
		token:   d.tokenIn(tenant, a.ID).String(),
		waiting: d.waitingIn(tenant, a, c).String(),
		picture: d.pictureIn(tenant, a, c).String(),
		member:  member.String(),
		session: d.sessionOf(member).String(),

		invitation: d.invitationIn(tenant).String(),
		key:        d.APIKeyIn(d.t, tenant, connectors.RoleViewer).ID.String(),
	}
}

func TestEveryRouteHasALeastRole(t *testing.T) {
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

// rank orders who may use a route.
func rank(r connectors.Role) int { return slices.Index(connectors.Roles, r) }

func TestTooLowARoleIsRefusedOnEveryRoute(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ids, low := d.own(), connectors.Roles[:len(connectors.Roles)-1]
	var browsers []*browser
	for _, role := range low {
		browsers = append(browsers, d.as(role))
	}
	before := d.snapshot()
	for i, role := range low {
		b := browsers[i]
		for route, least := range routeRoles {
			if rank(least) <= i {
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
	d.unchanged(before)
}

// snapshot is what all tenants have, to be compared later.
func (d *dashboard) snapshot() string {
	d.t.Helper()
	return d.Rows(d.t)
}

// unchanged fails the test unless all tenants have what they had.
func (d *dashboard) unchanged(before string) {
	d.t.Helper()
	if diff := cmp.Diff(strings.Split(before, "\n"), strings.Split(d.snapshot(), "\n")); diff != "" {
		d.t.Errorf("what was refused changed something (-before +after):\n%s", diff)
	}
}

func TestWhatIsAnothersOrNowhereIsNotFound(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.as(connectors.RoleOwner)
	own, theirs := d.own(), d.thingsOf(d.Other)
	before := d.snapshot()
	nowhere, odd := uuid.NewString(), "Not-An-Id!"
	unknown := things{offer: "nothing", connector: nowhere, agent: nowhere, member: nowhere, key: nowhere, tool: "nothing", token: nowhere, waiting: nowhere, picture: nowhere, webhook: nowhere, delivery: nowhere, run: nowhere, session: nowhere}
	malformed := things{offer: odd, connector: odd, agent: odd, member: odd, key: odd, tool: "nothing", token: odd, waiting: odd, picture: odd, webhook: odd, delivery: odd, run: odd, session: odd}
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
			case strings.Contains(pattern, "{connector}"), strings.Contains(pattern, "{token}/"):
				mixed.agent = own.agent
			default:
				continue
			}
			if p := b.do(method, mixed.fill(pattern), form); p.Status != http.StatusNotFound {
				t.Errorf("%s with %s thing beside one's own: %d, want 404", route, name, p.Status)
			}
		}
	}
	d.unchanged(before)
}

func TestStrangersReachNothing(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ids := d.own()
	before := d.snapshot()
	for route, least := range routeRoles {
		if least == anyone {
			continue
		}
		method, pattern, _ := strings.Cut(route, " ")
		var form url.Values
		if method == http.MethodPost {
			form = url.Values{}
		}
		p := d.browser().do(method, ids.fill(pattern), form)
		if p.Status != http.StatusSeeOther || !strings.HasPrefix(p.Location, "/login") {
			t.Errorf("%s: %d to %q", route, p.Status, p.Location)
		}
	}
	d.unchanged(before)
}
