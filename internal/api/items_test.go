package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/testing/fixture"
)

// noItems is what a run found of a server with tools alone.
func noItems() map[string]any {
	zero := map[string]any{"total": 0.0, "added": 0.0, "changed": 0.0, "removed": 0.0}
	return map[string]any{"prompts": zero, "resources": zero, "resource_templates": zero}
}

func startItemServer(t *testing.T) *mcptest.Server {
	t.Helper()
	list := func(field string, entries ...string) mcptest.Handler {
		return mcptest.Answer("application/json", func(c mcptest.Call) string {
			return mcptest.Result(c, fmt.Sprintf(`{%q:[%s]}`, field, strings.Join(entries, ",")))
		})
	}
	return mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1), Capabilities: `{"tools":{},"prompts":{},"resources":{}}`, On: map[string]mcptest.Handler{
		"prompts/list": list("prompts", `{"name":"greet","title":"Greet","description":"Says < hello.","arguments":[{"name":"color","required":true},{"name":"size"}]}`,
			`{"name":"bad","arguments":{}}`),
		"resources/list":           list("resources", `{"uri":"file:///a","name":"A","mimeType":"text/plain","size":3}`, `{"uri":"file:///b","name":"B"}`),
		"resources/templates/list": list("resourceTemplates", `{"uriTemplate":"file:///{x}","name":"X"}`),
	}})
}

func withoutTimes(items any) []any {
	all := slices.Clone(items.([]any))
	for _, item := range all {
		delete(item.(map[string]any), "first_seen_at")
		delete(item.(map[string]any), "changed_at")
	}
	return all
}

func TestConnectorItems_AreListedPaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	member, viewer := w.createKey(t, connectors.RoleMember), w.createKey(t, connectors.RoleViewer)
	c := w.Connector(t, withURL(startItemServer(t).URL))
	path := "/api/v1/connectors/" + c.Slug
	run := w.call(t, member, http.MethodPost, path+"/sync_tools", nil).want(http.StatusOK)
	want := map[string]any{
		"prompts":            map[string]any{"total": 2.0, "added": 2.0, "changed": 0.0, "removed": 0.0},
		"resources":          map[string]any{"total": 2.0, "added": 2.0, "changed": 0.0, "removed": 0.0},
		"resource_templates": map[string]any{"total": 1.0, "added": 1.0, "changed": 0.0, "removed": 0.0},
	}
	if diff := cmp.Diff(want, run["items"]); diff != "" {
		t.Error(diff)
	}
	prompts := w.call(t, viewer, http.MethodGet, path+"/prompts", nil).want(http.StatusOK)
	if diff := cmp.Diff([]any{
		map[string]any{"name": "greet", "title": "Greet", "description": "Says < hello.", "defect": nil, "arguments": []any{
			map[string]any{"name": "color", "title": "", "description": "", "required": true}, map[string]any{"name": "size", "title": "", "description": "", "required": false},
		}},
		map[string]any{"name": "bad", "title": "", "description": "", "arguments": []any{}, "defect": `"arguments" has JSON type object; MCP requires array.`},
	}, withoutTimes(prompts["items"])); diff != "" {
		t.Error(diff)
	}
	first := w.call(t, viewer, http.MethodGet, path+"/resources?limit=1", nil).want(http.StatusOK)
	second := w.call(t, viewer, http.MethodGet, path+"/resources?limit=1&cursor="+first["next_cursor"].(string), nil).want(http.StatusOK)
	if diff := cmp.Diff([]any{
		map[string]any{"uri": "file:///a", "name": "A", "title": "", "description": "", "mime_type": "text/plain", "size": 3.0, "defect": nil},
		map[string]any{"uri": "file:///b", "name": "B", "title": "", "description": "", "mime_type": "", "size": nil, "defect": nil},
	}, append(withoutTimes(first["items"]), withoutTimes(second["items"])...)); diff != "" || second["next_cursor"] != nil {
		t.Errorf("%v %s", second["next_cursor"], diff)
	}
	found := w.call(t, viewer, http.MethodGet, path+"/resources?q=///B", nil).want(http.StatusOK)["items"].([]any)
	if len(found) != 1 {
		t.Errorf("%v", found)
	}
	all := w.call(t, viewer, http.MethodGet, path+"/resource_templates", nil).want(http.StatusOK)
	if diff := cmp.Diff([]any{
		map[string]any{"uri_template": "file:///{x}", "name": "X", "title": "", "description": "", "mime_type": "", "defect": nil},
	}, withoutTimes(all["items"])); diff != "" {
		t.Error(diff)
	}
}

func TestAgentItems_AreThoseOfItsGrants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	member, viewer, agent := w.createKey(t, connectors.RoleMember), w.createKey(t, connectors.RoleViewer), w.Agent(t)
	c := w.Connector(t, withURL(startItemServer(t).URL), func(d *connectors.Draft) { d.Slug, d.Name = "one", "One" })
	w.call(t, member, http.MethodPost, "/api/v1/connectors/one/sync_tools", nil).want(http.StatusOK)
	items := func(kind string) []any {
		return w.call(t, viewer, http.MethodGet, "/api/v1/agents/"+agent.Slug+"/"+kind, nil).want(http.StatusOK)["items"].([]any)
	}
	w.Grant(t, agent.ID, c.ID, fixture.Named("a"))
	for _, kind := range []string{"prompts", "resources", "resource_templates"} {
		if got := items(kind); len(got) != 0 {
			t.Errorf("a grant of a tool includes %s: %v", kind, got)
		}
	}
	w.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.Approval = new(connectors.ApprovalAuto) })
	if diff := cmp.Diff([]any{
		map[string]any{"connector": "one", "usable": true, "name": "mcp_one__greet", "server_name": "greet", "title": "Greet", "arguments": []any{
			map[string]any{"name": "color", "title": "", "description": "", "required": true}, map[string]any{"name": "size", "title": "", "description": "", "required": false},
		}},
	}, items("prompts")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]any{
		map[string]any{"connector": "one", "usable": true, "uri_template": "patchbay+one:file:///{x}", "server_uri_template": "file:///{x}", "name": "X", "title": "", "mime_type": ""},
	}, items("resource_templates")); diff != "" {
		t.Error(diff)
	}
	w.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) {
		g.Resources, g.Approval = connectors.ResourcesListed, new(connectors.ApprovalAlwaysAsk)
	})
	resources := items("resources")
	if len(resources) != 2 || resources[0].(map[string]any)["usable"] != true || len(items("resource_templates")) != 0 {
		t.Errorf("%v", resources)
	}
}

func TestConnectorTest_CountsItems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.call(t, w.createKey(t, connectors.RoleAdmin), http.MethodPost, "/api/v1/connectors/test", map[string]any{
		"name": "Tried", "url": startItemServer(t).URL,
	}).want(http.StatusOK)
	if got["prompts"] != 2.0 || got["resources"] != 2.0 || got["resource_templates"] != 1.0 || len(got["quarantined"].([]any)) != 1 {
		t.Errorf("%v", got)
	}
}
