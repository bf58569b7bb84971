package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestStrangersReachNothing(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ids := d.ownThings()
	before := d.snapshot()
	for route, needs := range routeRoles {
		if needs == anyone {
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
	d.wantUnchanged(before)
}
