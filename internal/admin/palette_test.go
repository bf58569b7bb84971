package admin_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

func TestPalette_OffersWhatTheRoleAllows(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	for _, role := range connectors.Roles {
		b := d.signInAsRole(role)
		for _, path := range []string{"/search", "/search?q=linear", "/search?q=sync+linear"} {
			for _, way := range offeredRoutes(b.get(path).Body) {
				pattern := strings.Replace(way, "/connectors/linear", "/connectors/{id}", 1)
				needs, known := routeRoles[pattern]
				if !known {
					t.Errorf("%s leads to %q, which is no route", path, way)
				} else if !mayUse(role, needs) {
					t.Errorf("a %s is offered %s", role, way)
				}
			}
		}
		if found := strings.Contains(b.get("/search?q=sync+linear").Body, "/connectors/linear/sync_tools"); found != role.May(connectors.PermOperate) {
			t.Errorf("a %s is offered a sync: %t", role, found)
		}
	}
}

// offeredRoutes are the routes that a search page links to, in its content and in the palette.
func offeredRoutes(body string) []string {
	var ways []string
	_, main, _ := strings.Cut(body, `<main`)
	for method, attribute := range map[string]string{"GET ": ` href="/`, "POST ": `action="/`} {
		for part := range strings.SplitSeq(main, attribute) {
			path, _, ok := strings.Cut(part, `"`)
			if at, err := url.Parse("/" + path); ok && err == nil && !strings.ContainsAny(path, " <>") && !strings.HasPrefix(at.Path, "/static/") {
				ways = append(ways, method+at.Path)
			}
		}
	}
	return slices.DeleteFunc(ways, func(way string) bool { return way == "POST /search" })
}

func TestThePalettesOptionsTravelAlone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.Synced(t, d.addConnectorAt("Linear", "https://mcp.example.com/mcp").ID, "search")
	b := d.signInAsRole(connectors.RoleViewer)
	b.header.Set("Patchbay-Part", "options")
	before := d.work.Queries()
	p := b.get("/search?q=linear")
	p.want(t, http.StatusOK, `href="/connectors/linear"`, `href="/connectors/linear/tools/search"`)
	if n := d.work.Queries() - before; n > 3 || p.says("<html") {
		t.Errorf("%d statements for %s", n, p.Body)
	}
}
