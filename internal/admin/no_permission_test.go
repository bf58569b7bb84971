package admin_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/connectors"
)

var (
	postedTo = regexp.MustCompile(`<form[^>]*method="post"[^>]*action="([^"]+)"|<form[^>]*action="([^"]+)"[^>]*method="post"|(?:form|hx-post)="(/[^"]+)"`)
	ledTo    = regexp.MustCompile(`<a [^>]*href="(/[^"#]*)`)
)

// requiredPermission is the permission that an address needs.
func (d *dashboard) requiredPermission(method, address string) (connectors.Permission, string) {
	d.t.Helper()
	at, err := url.Parse(html.UnescapeString(address))
	if err != nil {
		d.t.Fatal(err)
	}
	found := chi.NewRouteContext()
	if !d.router.Match(found, method, at.EscapedPath()) {
		return anyone, ""
	}
	route := method + " " + found.RoutePattern()
	return routeRoles[route], route
}

// TestPermission_PagesOfferWhatTheRoleAllows opens every page as each role: its forms and links are those the
// role may use. Others are refused with a page that names the needed role and has a way out.
func TestPermission_PagesOfferWhatTheRoleAllows(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ids := d.ownThings()
	ids.link = d.createConnectLink(d.signInAsRole(connectors.RoleOwner))
	pages := d.openPages(ids)
	for _, role := range connectors.Roles {
		b := d.signInAsRole(role)
		opened, offers := 0, map[string]bool{}
		for path := range pages {
			p := b.get(path)
			if p.Status != http.StatusOK || strings.HasPrefix(path, "/connect/") {
				continue
			}
			opened++
			for _, form := range postedTo.FindAllStringSubmatch(p.Body, -1) {
				needs, route := d.requiredPermission(http.MethodPost, form[1]+form[2]+form[3])
				if !mayUse(role, needs) {
					t.Errorf("%s offers a %s %s", path, role, route)
				}
				offers[route] = true
			}
			for _, link := range ledTo.FindAllStringSubmatch(p.Body, -1) {
				if needs, route := d.requiredPermission(http.MethodGet, link[1]); !mayUse(role, needs) {
					t.Errorf("%s leads a %s to %s", path, role, route)
				}
			}
		}
		if opened < 25 || role == connectors.RoleOwner && len(offers) < 25 {
			t.Errorf("a %s opened %d pages, with forms for %d acts", role, opened, len(offers))
		}
	}
}

func TestPermission_RefusalIsAPageInTheFrame(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ids := d.ownThings()
	for _, role := range notOwners() {
		b := d.signInAsRole(role)
		for route, needs := range routeRoles {
			method, pattern, _ := strings.Cut(route, " ")
			if mayUse(role, needs) {
				continue
			}
			var form url.Values
			if method == http.MethodPost {
				form = url.Values{}
			}
			b.do(method, ids.fill(pattern), form).want(t, http.StatusForbidden,
				inFrame, "Not allowed", "Requires the "+string(connectors.LowestRole(needs))+" role; yours is "+string(role)+".")
		}
	}
}
