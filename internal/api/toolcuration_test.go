package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

// curationFields are the tool's fields of its curation.
func curationFields(tool map[string]any) map[string]any {
	return map[string]any{
		"enabled": tool["enabled"], "alias": tool["alias"], "agent_description": tool["agent_description"], "tags": tool["tags"], "exposed_name": tool["exposed_name"],
	}
}

func TestToolCuration_NameDescriptionTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, _, c := newChangedTool(t, w)
	admin, agent := w.createKey(t, connectors.RoleAdmin), w.Agent(t)
	w.Grant(t, agent.ID, c.ID)
	body := `{"alias": "find", "agent_description": "Finds issues of ours.", "tags": ["Issues", "read"]}`
	tool := w.call(t, admin, http.MethodPatch, path+"/tools/search", body).want(http.StatusOK)
	want := map[string]any{
		"enabled": true, "alias": "find", "agent_description": "Finds issues of ours.", "tags": []any{"issues", "read"}, "exposed_name": connectors.ExposedName(c.Slug, "find"),
	}
	if diff := cmp.Diff(want, curationFields(tool)); diff != "" {
		t.Error(diff)
	}
	if tool["name"] != "search" || tool["review"] != "changed" || !strings.Contains(tool["description"].(string), "id_rsa") {
		t.Errorf("what the server says, and that it waits, is still told: %v", tool)
	}
	if waiting := listItems(w.call(t, admin, http.MethodGet, "/api/v1/tool_changes", nil).want(http.StatusOK)); len(waiting) != 1 {
		t.Errorf("%d changes wait", len(waiting))
	}
	for _, format := range []string{"mcp", "openai", "anthropic", "google"} {
		served := string(w.call(t, admin, http.MethodGet, "/api/v1/agents/"+agent.Slug+"/tools?format="+format, nil).body)
		if !strings.Contains(served, connectors.ExposedName(c.Slug, "find")) || !strings.Contains(served, "Finds issues of ours.") || strings.Contains(served, "Searches") {
			t.Errorf("%s: %s", format, served)
		}
	}
	found := listItems(w.call(t, admin, http.MethodGet, path+"/tools?tag=read&state=curated", nil).want(http.StatusOK))
	if len(found) != 1 || found[0]["alias"] != "find" {
		t.Errorf("found by tag and state: %v", found)
	}
	again := w.call(t, admin, http.MethodPatch, path+"/tools/search", `{"alias": "", "agent_description": "", "remove_tags": ["read"], "enabled": false}`).want(http.StatusOK)
	want = map[string]any{"enabled": false, "alias": "", "agent_description": "", "tags": []any{"issues"}, "exposed_name": connectors.ExposedName(c.Slug, "search")}
	if diff := cmp.Diff(want, curationFields(again)); diff != "" {
		t.Error(diff)
	}
}

func TestSeveralToolsChangeTogetherOrNotAtAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upstream := mcptest.Start(t, mcptest.Script{Tools: []string{`{"name":"a"}`, `{"name":"b"}`, `{"name":"c"}`}})
	c := w.Connector(t, withURL(upstream.URL))
	path, admin := "/api/v1/connectors/"+c.Slug, w.createKey(t, connectors.RoleAdmin)
	w.resync(t, path)
	done := w.call(t, admin, http.MethodPatch, path+"/tools", `{"tools": [{"name": "a", "alias": "b"}, {"name": "b", "alias": "a"}, {"name": "c"}]}`).want(http.StatusOK)
	if done["changed"] != 2.0 {
		t.Errorf("%v", done)
	}
	for body, want := range map[string]struct {
		status int
		kind   string
	}{
		`{"tools": [{"name": "c", "enabled": false}, {"name": "a", "alias": "c"}]}`:   {http.StatusConflict, "conflict"},
		`{"tools": [{"name": "c", "enabled": false}, {"name": "a", "alias": "c d"}]}`: {http.StatusUnprocessableEntity, "invalid"},
		`{"tools": [{"name": "c", "enabled": false}, {"name": "none"}]}`:              {http.StatusNotFound, "not-found"},
		`{"tools": [{"name": "c", "enabled": false, "hidden": true}]}`:                {http.StatusUnprocessableEntity, "invalid"},
		`{"tools": []}`: {http.StatusUnprocessableEntity, "invalid"},
	} {
		w.call(t, admin, http.MethodPatch, path+"/tools", body).problem(want.status, want.kind)
	}
	if tools := listItems(w.call(t, admin, http.MethodGet, path+"/tools?state=disabled", nil).want(http.StatusOK)); len(tools) != 0 {
		t.Errorf("half of a change was done: %v", tools)
	}
	w.call(t, w.createKey(t, connectors.RoleMember), http.MethodPatch, path+"/tools/a", `{"alias": "x"}`).problem(http.StatusForbidden, "denied")
}
