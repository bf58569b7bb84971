//go:build !race

// Requests one after the other: the race detector finds nothing here and takes ten times as long.

package api_test

import (
	"math"
	"net/http"
	"patchbay/internal/connectors"
	"patchbay/internal/middleware"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocument_UpToSixteenMebibytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handler = middleware.LimitBody(middleware.MaxBody)(w.handler)
	admin := w.createKey(t, connectors.RoleAdmin)
	document := func(mebibytes int) string {
		text := notesDocument[:len(notesDocument)-1] + `,"x-padding":"`
		return text + strings.Repeat("a", mebibytes<<20-len(text)-2) + `"}`
	}
	draft := func(document string) map[string]any {
		return map[string]any{"name": "Notes", "kind": "http", "url": "https://api.example.com", "document": document}
	}
	w.call(t, admin, http.MethodPost, "/api/v1/connectors", draft(document(15))).want(http.StatusCreated)
	tested := w.call(t, admin, http.MethodPost, "/api/v1/connectors/test", draft(document(15))).want(http.StatusOK)
	if tested["ok"] != true || tested["api"].(map[string]any)["operations"] != 3.0 {
		t.Errorf("the test says %v", tested["error"])
	}
	w.call(t, admin, http.MethodPatch, "/api/v1/connectors/notes", map[string]any{"document": document(14)}).want(http.StatusOK)
	if info := w.call(t, admin, http.MethodGet, "/api/v1/connectors/notes/document", nil).want(http.StatusOK); info["size"] != float64(14<<20) {
		t.Errorf("the stored document has %v bytes", info["size"])
	}

	const tooLarge = "The document is larger than 16 MiB."
	for _, route := range []struct{ method, path string }{{http.MethodPost, "/api/v1/connectors"}, {http.MethodPatch, "/api/v1/connectors/notes"}} {
		body := draft(document(17))
		if route.method == http.MethodPatch {
			body = map[string]any{"document": document(17)}
		}
		if p := w.call(t, admin, route.method, route.path, body).problem(http.StatusRequestEntityTooLarge, "too-large"); p["detail"] != tooLarge {
			t.Errorf("%s: %v", route.method, p["detail"])
		}
	}
	tested = w.call(t, admin, http.MethodPost, "/api/v1/connectors/test", draft(document(17))).want(http.StatusOK)
	if said, _ := tested["error"].(map[string]any); said["code"] != "too_large" || said["message"] != tooLarge {
		t.Errorf("the test says %v", tested["error"])
	}

	withMore := draft(document(1))
	withMore["description"] = strings.Repeat("a", 4<<20)
	for path, body := range map[string]any{
		"/api/v1/connectors":                 withMore,
		"/api/v1/connectors/notes/endpoints": map[string]any{"name": "a", "url": "https://a.example", "document": document(5)},
		"/api/v1/agents":                     map[string]any{"name": "a", "document": document(5)},
	} {
		if p := w.call(t, admin, http.MethodPost, path, body).problem(http.StatusRequestEntityTooLarge, "too-large"); p["detail"] != "The request body is larger than 4 MiB." {
			t.Errorf("%s: %v", path, p["detail"])
		}
	}
	if p := w.call(t, admin, http.MethodPost, "/api/v1/connectors", draft(document(37))).problem(http.StatusRequestEntityTooLarge, "too-large"); p["detail"] != "The request body is larger than 36 MiB." {
		t.Errorf("%v", p["detail"])
	}
}

func TestReads_StatementsDoNotGrowWithConnectors(t *testing.T) {
	t.Parallel()
	const maxStatements = 6 // statements of one read, including the key's
	// An agent's view takes seven in one round trip, and one more for definitions that are not cached.
	const maxViewStatements = maxStatements + 5
	views := map[string]bool{
		"GET /api/v1/agents/{id}/tools": true, "GET /api/v1/agents/{id}/tools/{name}/why": true,
		"GET /api/v1/agents/{id}/prompts": true, "GET /api/v1/agents/{id}/resources": true, "GET /api/v1/agents/{id}/resource_templates": true,
		"GET /api/v1/agents/{id}/size": true, "GET /api/v1/agents/{id}/unused_tools": true,
		"GET /api/v1/overview":             true, // the figures are read from several tables in one round trip
		"GET /api/v1/access_requests/{id}": true, // what review, history and other grants know
		"GET /api/v1/audit_events/verify":  true, // it computes two hash chains, and stores the results
	}
	w := newWorld(t)
	owner, ids := w.createKey(t, connectors.RoleOwner), w.createTargets(t, w.Tenant)
	count := func() map[string]int64 {
		counts := map[string]int64{}
		for route := range routes {
			method, pattern, _ := strings.Cut(route, " ")
			if method != http.MethodGet || route == "GET /api/v1/export" { // reads page after page, to the end
				continue
			}
			// The minimum of several runs counts, since background sweeps may add to one.
			counts[route] = math.MaxInt64
			for range 3 {
				before := w.Queries()
				w.call(t, owner, method, ids.fillPattern(pattern), nil).want(http.StatusOK)
				counts[route] = min(counts[route], w.Queries()-before)
			}
			if views[route] && counts[route] <= maxViewStatements {
				counts[route] = maxStatements
			}
		}
		return counts
	}
	grow := func(n int) {
		for range n {
			c := w.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
			w.Synced(t, c.ID, "search", "create_issue")
			w.Credential(t, c.ID, nil, "token")
		}
		for range n / 10 {
			w.Agent(t)
			w.MemberIn(t, w.Tenant, connectors.RoleViewer)
			w.APIKeyIn(t, w.Tenant, connectors.RoleViewer)
		}
	}
	grow(3)
	count() // stores the first use of the key
	few := count()
	grow(117)
	many := count()
	if diff := cmp.Diff(few, many); diff != "" {
		t.Errorf("at 3 and at 120 connectors:\n%s", diff)
	}
	for route, n := range many {
		if n > maxStatements {
			t.Errorf("%s runs %d statements", route, n)
		}
	}
}
