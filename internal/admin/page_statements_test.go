//go:build !race

// Requests one after the other: the race detector finds nothing here and takes ten times as long.

package admin_test

import (
	"cmp"
	"maps"
	"net/http"
	"patchbay/internal/connectors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

func TestPages_QueriesDoNotGrowWithRows(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleOwner)
	ids := d.ownThings()
	ids.link = d.createConnectLink(b)
	grow := func(n int) {
		for i := range n {
			c := d.Connector(t)
			d.Synced(t, c.ID, "search", "create_issue")
			d.Credential(t, c.ID, nil, "token")
			if i%10 == 0 {
				d.storeAccount(d.addOAuthConnector(), nil, 5*time.Hour)
			}
		}
		for range n / 10 {
			a := d.Agent(t)
			d.Grant(t, a.ID, connectors.ConnectorID{UUID: uuid.MustParse(ids.connector)})
			d.createToken(d.Tenant, connectors.AgentID{UUID: uuid.MustParse(ids.agent)})
			d.createWaitingCall(d.Tenant, a, d.Connector(t))
			d.Member(t, connectors.RoleViewer)
			d.APIKey(t, connectors.RoleViewer)
		}
	}
	grow(3)
	few := d.countPageQueries(b, ids)
	grow(117)
	if diff := gocmp.Diff(few, d.countPageQueries(b, ids)); diff != "" {
		t.Errorf("at 3 and at 120 connectors:\n%s", diff)
	}
	for _, route := range slices.Sorted(maps.Keys(few)) {
		if few[route] == 0 || few[route] > maxStatements+extraStatements[route] {
			t.Errorf("%s runs %d statements", route, few[route])
		}
	}
}

// countPageQueries counts the statements of every page.
func (d *dashboard) countPageQueries(b *browser, ids things) map[string]int64 {
	d.t.Helper()
	// While a view is in use, the definitions are not read again.
	view, err := d.access.ByAgent(d.t.Context(), d.Tenant, connectors.Ref(ids.agent))
	if err != nil {
		d.t.Fatal(err)
	}
	defer runtime.KeepAlive(view)
	counts := map[string]int64{}
	for route := range routeRoles {
		method, pattern, _ := strings.Cut(route, " ")
		if method != http.MethodGet || pattern == "/events" || pattern == "/connectors/export" || strings.HasPrefix(pattern, "/exports/") { // these read page after page, to the end
			continue
		}
		var p page
		counts[route] = d.countStatements(func() { p = b.get(ids.fill(pattern)) })
		if want := cmp.Or(otherStatus[pattern], http.StatusOK); p.Status != want {
			d.t.Errorf("%s answers %d, want %d: its statements say nothing", route, p.Status, want)
		}
	}
	return counts
}

// extraStatements are pages with more. A link page checks its sender, an agent's view is read as the gateway
// reads it, with its allowances, and settings show quota use. Overviews, calls and the home page draw history, and the
// latter, like the notifications, lists what needs attention in two round trips, and requests for access; the checklist of a new tenant is one more.
// Connectors are listed with their tags, accounts that expire, and the agents to which several can be granted. A change
// names the agents that it reaches, or offers the version before it. A request for access has what a decision rests on. Lists with icons of connectors, and those that say
// their total, have one more for it.
var extraStatements = map[string]int64{
	"GET /connectors/{id}/tools/{tool}/changes": 2, "GET /connectors/{id}/tools/{tool}/changes/{change}": 2,
	"GET /approvals/{id}": 1, "GET /audit": 1, "GET /connectors/{id}/calls": 1, "GET /connectors/{id}/tools": 1, "GET /tasks": 1,
	"GET /connectors": 4, "GET /calls": 2, "GET /": 8, "GET /notices": 4, "GET /settings": 1, "GET /access/requests/{id}": 3, "GET /connectors/{id}/resources": 1, "GET /connect/{token}": 1, "GET /connectors/{id}": 3, "GET /agents/{id}": 11, "GET /agents/{id}/access": 6, "GET /agents/{id}/connect": 1, "GET /agents/{id}/connectors/{connector}": 7, "GET /agents/{id}/tools": 3, "GET /agents/{id}/resources": 3, "GET /agents/{id}/unused": 6, "GET /agents/{id}/tools/{exposed}": 6,
}

func TestAPIConnector_TakesADocumentOfSixteenMebibytes(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	document := func(mebibytes int) string {
		text := notesDocument[:len(notesDocument)-1] + `,"x-padding":"`
		return text + strings.Repeat("a", mebibytes<<20-len(text)-2) + `"}`
	}
	fields := []string{"name", "Notes", "transport", "api", "url", "http://127.0.0.1:9/", "auth.type", "none", "credential_mode", "shared"}
	for _, at := range []string{"document", "file"} {
		send := func(path, text string, more ...string) page {
			if more = append(more, fields...); at == "file" {
				return b.upload(path, "", text, more...)
			}
			return b.upload(path, text, "", more...)
		}
		send("/connectors/test", document(15)).want(t, http.StatusOK, "Notes 2 has 3 operations.")
		send("/connectors/test", document(17)).want(t, http.StatusOK, "The document is larger than 16 MiB.")
		send("/connectors", document(17)).want(t, http.StatusRequestEntityTooLarge, "The document is larger than 16 MiB.")
		send("/connectors/test", document(1), "description", strings.Repeat("a", 4<<20)).want(t, http.StatusRequestEntityTooLarge, "larger than 4 MiB")
		send("/connectors/test", document(37)).want(t, http.StatusRequestEntityTooLarge, "larger than 36 MiB")
	}
	if p := b.upload("/connectors", "", document(15), fields...); p.Status != http.StatusSeeOther {
		t.Fatalf("%d\n%s", p.Status, plainText(p.Body))
	}
	b.upload("/connectors/import", "", strings.Repeat("a", 5<<20)).want(t, http.StatusRequestEntityTooLarge, "larger than 4 MiB")
}
