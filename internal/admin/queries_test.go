package admin_test

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

// most is how many statements any page may run: the session, the memberships, and a few for itself.
const most = 6

// elsewhere are the pages that send somebody who is signed in away, or are not there any more.
var elsewhere = map[string]int{"/": http.StatusSeeOther, "/login": http.StatusSeeOther, "/setup": http.StatusNotFound}

func TestPagesIssueTheSameQueriesWhateverTheyList(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.as(connectors.RoleOwner)
	ids := d.own()
	grow := func(n int) {
		for range n {
			c := d.Connector(t)
			d.Synced(t, c.ID, "search", "create_issue")
			d.Credential(t, c.ID, nil, "token")
		}
		for range n / 10 {
			d.Agent(t)
			d.Member(t, connectors.RoleViewer)
			d.APIKey(t, connectors.RoleViewer)
		}
	}
	grow(3)
	few := d.queries(b, ids)
	grow(297)
	if diff := gocmp.Diff(few, d.queries(b, ids)); diff != "" {
		t.Errorf("at 3 and at 300 connectors:\n%s", diff)
	}
	for _, route := range slices.Sorted(maps.Keys(few)) {
		if few[route] > most {
			t.Errorf("%s runs %d statements", route, few[route])
		}
	}
}

// queries counts the statements of every page.
func (d *dashboard) queries(b *browser, ids things) map[string]int64 {
	d.t.Helper()
	counts := map[string]int64{}
	for route := range routeRoles {
		method, pattern, _ := strings.Cut(route, " ")
		if method != http.MethodGet || pattern == "/events" {
			continue
		}
		before := d.Queries()
		p := b.get(ids.fill(pattern))
		counts[route] = d.Queries() - before
		if want := cmp.Or(elsewhere[pattern], http.StatusOK); p.Status != want {
			d.t.Errorf("%s answers %d, want %d: its statements say nothing", route, p.Status, want)
		}
	}
	return counts
}
