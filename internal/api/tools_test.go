package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/testing/fixture"
)

// oddTool has what a careless encoder would change: HTML characters, a big integer, key order, number spelling,
// a duplicate key in other case, escapes.
const (
	oddSchema = `{"zeta":1,"type":"object","alpha":"<b>&amp;\u00e9\ud83d\ude00\u2028","max":9007199254740993,"min":-1.50e+2,` +
		`"properties":{"b":{"maximum":18446744073709551615},"a":{}}}`
	oddTool = `{"name":"odd","title":"<Odd>","description":"a < b && c","inputSchema":` + oddSchema +
		`,"inputschema":{"not":"this"},"outputSchema":{"type":"object","x":1.0},"annotations":{"readOnlyHint":true},` +
		`"icons":[{"src":"https://example.com/i.png"}],"_meta":{"a/b":"<"},"future":{"kept":true}}`
)

func TestToolsPassThroughAsTheyWereSpelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upstream := mcptest.Start(t, mcptest.Script{Tools: []string{oddTool}})
	c, member := w.Connector(t, withURL(upstream.URL)), w.createKey(t, connectors.RoleMember)
	w.call(t, member, http.MethodPost, "/api/v1/connectors/"+c.Slug+"/sync_tools", nil).want(http.StatusOK)

	got := w.call(t, member, http.MethodGet, "/api/v1/connectors/"+c.Slug+"/tools", nil)
	for _, verbatim := range []string{
		`"title":"<Odd>"`, `"description":"a < b && c"`, `"input_schema":` + oddSchema, `"output_schema":{"type":"object","x":1.0}`,
		`"annotations":{"readOnlyHint":true}`, `"icons":[{"src":"https://example.com/i.png"}]`, `"meta":{"a/b":"<"}`,
	} {
		if !strings.Contains(string(got.body), verbatim) {
			t.Errorf("no %s in %s", verbatim, got.body)
		}
	}
	tool := got.want(http.StatusOK)["items"].([]any)[0].(map[string]any)
	for field, want := range map[string]any{
		"name": "odd", "connector_id": c.ID.String(), "exposed_name": "mcp_" + c.Slug + "__odd",
		"hash": connectors.HashDefinition([]byte(oddTool)).String(), "enabled": true, "review": "accepted", "removed_at": nil,
	} {
		if tool[field] != want {
			t.Errorf("%s is %v, want %v", field, tool[field], want)
		}
	}
	for _, field := range []string{"first_seen_at", "last_seen_at", "changed_at"} {
		if !isTime(tool[field]) {
			t.Errorf("%s is %v", field, tool[field])
		}
	}
}

// Syncs of earlier releases accepted such definitions.
func TestTools_MistypedFieldsAreDroppedAndNoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, member := w.Connector(t), w.createKey(t, connectors.RoleMember)
	stored := fixture.FirstResult(fixture.DefinitionOf("a", `{"name":"a","title":7,"description":null,"inputSchema":{"type":"object"},"annotations":[],"icons":{}}`))
	if _, err := w.Door().Syncs().Finish(t.Context(), w.Run(t, c.ID).ID, stored); err != nil {
		t.Fatal(err)
	}
	got := w.call(t, member, http.MethodGet, "/api/v1/tools", nil).want(http.StatusOK)["items"].([]any)[0].(map[string]any)
	if got["title"] != "" || got["description"] != "" || got["annotations"] != nil || got["icons"] != nil {
		t.Errorf("%v", got)
	}
	if notes, _ := got["notes"].([]any); len(notes) != 3 {
		t.Errorf("notes: %v", got["notes"])
	}
}

func TestRemovedToolsAreListedOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upstream := mcptest.Start(t, mcptest.Script{Tools: []string{mcptest.Tool("stays"), mcptest.Tool("goes")}})
	c, member := w.Connector(t, withURL(upstream.URL)), w.createKey(t, connectors.RoleMember)
	path := "/api/v1/connectors/" + c.Slug
	w.call(t, member, http.MethodPost, path+"/sync_tools", nil).want(http.StatusOK)
	upstream.SetTools(mcptest.Tool("stays"))
	run := w.call(t, member, http.MethodPost, path+"/sync_tools", nil).want(http.StatusOK)
	if run["tools_removed"] != 1.0 || run["tools_total"] != 1.0 {
		t.Errorf("%v", run)
	}
	if diff := cmp.Diff([]string{"stays"}, itemNames(w.call(t, member, http.MethodGet, path+"/tools", nil))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"goes", "stays"}, itemNames(w.call(t, member, http.MethodGet, path+"/tools?removed=true", nil))); diff != "" {
		t.Error(diff)
	}
}

func TestMalformedToolsAreKeptAside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upstream := mcptest.Start(t, mcptest.Script{Tools: []string{
		mcptest.Tool("good"), `{"description":"<no name>"}`, `{"name":"bad","inputSchema":"text"}`, `17`,
	}})
	c, member := w.Connector(t, withURL(upstream.URL)), w.createKey(t, connectors.RoleMember)
	path := "/api/v1/connectors/" + c.Slug
	run := w.call(t, member, http.MethodPost, path+"/sync_tools", nil).want(http.StatusOK)
	if run["tools_total"] != 1.0 || run["tools_quarantined"] != 3.0 {
		t.Errorf("%v", run)
	}
	got := w.call(t, member, http.MethodGet, path+"/tools?quarantined=true", nil)
	items := got.want(http.StatusOK)["items"].([]any)
	var named []any
	for _, item := range items {
		entry := item.(map[string]any)
		named = append(named, entry["name"])
		if len(entry) != 3 || entry["reason"] == "" {
			t.Errorf("%v", entry)
		}
	}
	if diff := cmp.Diff([]any{nil, "bad", nil}, named); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(string(got.body), `"raw":{"description":"<no name>"}`) || !strings.Contains(string(got.body), `"raw":17`) {
		t.Errorf("%s", got.body)
	}
}

func TestToolsAreFoundByTheirWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer := w.createKey(t, connectors.RoleViewer)
	a, b := w.Connector(t), w.Connector(t)
	w.Synced(t, a.ID, "search_issues", "create_issue")
	w.Synced(t, b.ID, "search_pages")
	w.SyncedIn(t, w.Other, w.ConnectorIn(t, w.Other).ID, "search_secrets")
	for path, want := range map[string][]string{
		"/api/v1/tools?q=search":                           {"search_issues", "search_pages"},
		"/api/v1/connectors/" + a.Slug + "/tools?q=search": {"search_issues"},
		"/api/v1/tools?q=nothing":                          nil,
	} {
		if diff := cmp.Diff(want, itemNames(w.call(t, viewer, http.MethodGet, path, nil))); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

// itemNames are the names of a list's items, in order.
func itemNames(r reply) []string {
	r.t.Helper()
	var out []string
	for _, item := range r.want(http.StatusOK)["items"].([]any) {
		out = append(out, item.(map[string]any)["name"].(string))
	}
	return out
}
