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

// needs is what one needs to ask for an address.
func (d *dashboard) needs(method, address string) (connectors.Permission, string) {
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

// TestNobodyIsOfferedWhatTheyMayNotDo opens every page as each role: the forms and links that are there are those that the role may use. What is
// not offered is refused all the same, with a page that says which role it needs and that keeps the way out.
func TestNobodyIsOfferedWhatTheyMayNotDo(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ids := d.own()
	ids.link = d.link(d.as(connectors.RoleOwner))
	pages := d.pages(ids)
	for _, role := range connectors.Roles {
		b := d.as(role)
		opened, offers := 0, map[string]bool{}
		for path := range pages {
			p := b.get(path)
			if p.Status != http.StatusOK || strings.HasPrefix(path, "/connect/") {
				continue
			}
			opened++
			for _, form := range postedTo.FindAllStringSubmatch(p.Body, -1) {
				needs, route := d.needs(http.MethodPost, form[1]+form[2]+form[3])
				if !mayUse(role, needs) {
					t.Errorf("%s offers a %s %s", path, role, route)
				}
				offers[route] = true
			}
			for _, link := range ledTo.FindAllStringSubmatch(p.Body, -1) {
				if needs, route := d.needs(http.MethodGet, link[1]); !mayUse(role, needs) {
					t.Errorf("%s leads a %s to %s", path, role, route)
				}
			}
		}
		if opened < 25 || role == connectors.RoleOwner && len(offers) < 25 {
			t.Errorf("a %s opened %d pages, with forms for %d acts", role, opened, len(offers))
		}
	}
}

func TestWhatARoleMayNotDoIsRefusedWithAPageInTheFrame(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ids := d.own()
	for _, role := range notOwners() {
		b := d.as(role)
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
				inFrame, "You may not do this", "This needs the role "+string(connectors.LeastRole(needs))+"; yours is "+string(role)+".")
		}
	}
}
