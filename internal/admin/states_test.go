package admin_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

// fullAtOnce are the pages without a place in their address that have something to show however new a tenant is.
var fullAtOnce = []string{
	"/account", "/account/second-factor", "/agents/new", "/audit", "/catalog", "/catalog/registry", "/confirm", "/connect/done", "/connectors/import", "/connectors/new", "/members", "/search", "/settings",
	"/settings/sso",
}

// browsedTo tells whether a route is a page, with nothing in its address to fill in.
func browsedTo(route string) (path string, ok bool) {
	method, pattern, _ := strings.Cut(route, " ")
	file := strings.HasPrefix(pattern, "/exports/") || pattern == "/connectors/export"
	return pattern, method == http.MethodGet && !strings.Contains(pattern, "{") && !file && pattern != "/events" && elsewhere[pattern] == 0
}

func TestEveryListOfANewTenantSaysWhatComesNext(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner, viewer := d.as(connectors.RoleOwner), d.as(connectors.RoleViewer)
	for route, needs := range routeRoles {
		path, ok := browsedTo(route)
		if !ok || path == "/" || slices.Contains(fullAtOnce, path) {
			continue
		}
		owner.get(path).want(t, http.StatusOK, `class="nothing"`)
		if needs == connectors.PermRead {
			viewer.get(path).want(t, http.StatusOK, `class="nothing"`)
		}
	}
	owner.get("/").want(t, http.StatusOK, `href="/catalog"`, `href="/connectors/import"`, `href="/connectors/new"`)
}

func TestAPageThatNeedsAnotherRoleSaysWhichAndLeadsBack(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ids := d.own()
	viewer := d.as(connectors.RoleViewer)
	for route, needs := range routeRoles {
		method, pattern, _ := strings.Cut(route, " ")
		if method != http.MethodGet || mayUse(connectors.RoleViewer, needs) {
			continue
		}
		viewer.get(ids.fill(pattern)).want(t, http.StatusForbidden, "This needs the role "+string(connectors.LeastRole(needs))+"; yours is viewer.", `class="lost"`, `href="/connectors"`)
	}
}

func TestAPageOfSomethingThatIsNotThereSaysSoAndLeadsBack(t *testing.T) {
	t.Parallel()
	viewer := newDashboard(t).as(connectors.RoleViewer)
	for _, path := range []string{"/connectors/nobody", "/agents/nobody", "/calls/nothing", "/connectors/nobody/tools/search"} {
		viewer.get(path).want(t, http.StatusNotFound, `class="lost"`, `href="/connectors"`)
	}
}
