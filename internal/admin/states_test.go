package admin_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

// pagesWithContent are pages without path parameters that have content in a new tenant.
var pagesWithContent = []string{
	"/account", "/account/second-factor", "/agents/new", "/audit", "/catalog", "/catalog/registry", "/confirm", "/connect/done", "/connectors/import", "/connectors/new", "/forgot", "/members", "/reset", "/search", "/settings",
	"/settings/sso", "/settings/scim", "/webhooks/new", "/registries/new", "/audit/streams", "/start/agent",
}

// pagePath reports whether a route is a page without path parameters.
func pagePath(route string) (path string, ok bool) {
	method, pattern, _ := strings.Cut(route, " ")
	file := strings.HasPrefix(pattern, "/exports/") || pattern == "/connectors/export"
	return pattern, method == http.MethodGet && !strings.Contains(pattern, "{") && !file && pattern != "/events" && otherStatus[pattern] == 0
}

func TestLists_EmptyTenantNamesNextStep(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner, viewer := d.signInAsRole(connectors.RoleOwner), d.signInAsRole(connectors.RoleViewer)
	for route, needs := range routeRoles {
		path, ok := pagePath(route)
		if !ok || path == "/" || slices.Contains(pagesWithContent, path) {
			continue
		}
		owner.get(path).want(t, http.StatusOK, `class="nothing"`)
		if needs == connectors.PermRead {
			viewer.get(path).want(t, http.StatusOK, `class="nothing"`)
		}
	}
	owner.get("/").want(t, http.StatusOK, `href="/catalog"`, `href="/connectors/import"`, `href="/connectors/new"`)
}

func TestPage_MissingRoleIsNamed(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ids := d.ownThings()
	viewer := d.signInAsRole(connectors.RoleViewer)
	for route, needs := range routeRoles {
		method, pattern, _ := strings.Cut(route, " ")
		if method != http.MethodGet || mayUse(connectors.RoleViewer, needs) {
			continue
		}
		viewer.get(ids.fill(pattern)).want(t, http.StatusForbidden, "Requires the "+string(connectors.LowestRole(needs))+" role; yours is viewer.", `class="lost"`, `href="/connectors"`)
	}
}

func TestPage_MissingThingLeadsBack(t *testing.T) {
	t.Parallel()
	viewer := newDashboard(t).signInAsRole(connectors.RoleViewer)
	for _, path := range []string{"/connectors/nobody", "/agents/nobody", "/calls/nothing", "/connectors/nobody/tools/search"} {
		viewer.get(path).want(t, http.StatusNotFound, `class="lost"`, `href="/connectors"`)
	}
}
