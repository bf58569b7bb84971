package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

const (
	plainSchema = `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993},` +
		`"kind":{"anyOf":[{"const":"a"},{"const":"b"}]}},"required":["n"],"additionalProperties":false}`
	plainTool = `{"name":"get.thing","title":"Get","description":"Gets a < b.","inputSchema":` + plainSchema +
		`,"annotations":{"readOnlyHint":true},"_meta":{"x":1.50}}`
	idleTool = `{"name":"idle","inputSchema":{"type":"object","properties":{}}}`
)

// createSyncedConnectors creates two connectors with the tools above.
func (w *world) createSyncedConnectors(t *testing.T) (first, second connectors.Connector) {
	t.Helper()
	member := w.createKey(t, connectors.RoleMember)
	connector := func(name string, tools ...string) connectors.Connector {
		upstream := mcptest.Start(t, mcptest.Script{Tools: tools})
		c := w.Connector(t, withURL(upstream.URL), func(d *connectors.Draft) { d.Name, d.Slug = name, strings.ToLower(name) })
		w.call(t, member, http.MethodPost, "/api/v1/connectors/"+c.Slug+"/sync_tools", nil).want(http.StatusOK)
		return c
	}
	second = connector("Zoo", plainTool, idleTool)
	first = connector("Ant", idleTool)
	return first, second
}

// createGrantedAgent creates an agent with a grant of every connector of w.Tenant.
func (w *world) createGrantedAgent(t *testing.T) connectors.Agent {
	t.Helper()
	agent := w.Agent(t)
	list, err := w.Door().Connectors().List(t.Context(), store.ConnectorFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Items {
		w.Grant(t, agent.ID, c.ID)
	}
	return agent
}

func TestAnAgentsToolsComeInEachProvidersWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.createSyncedConnectors(t)
	viewer, agent := w.createKey(t, connectors.RoleViewer), w.createGrantedAgent(t)
	plain := connectors.ExposedName("zoo", "get.thing")
	const says = " (Its server says that this tool is read-only.)"
	for format, want := range map[string][]string{
		"mcp": {
			strings.Replace(idleTool, `"idle"`, `"mcp_ant__idle"`, 1),
			strings.Replace(plainTool, `"get.thing"`, `"`+plain+`"`, 1),
			strings.Replace(idleTool, `"idle"`, `"mcp_zoo__idle"`, 1),
		},
		"openai": {
			`{"type":"function","function":{"name":"mcp_ant__idle","description":"mcp_ant__idle","parameters":{"type":"object","properties":{}}}}`,
			`{"type":"function","function":{"name":"` + plain + `","description":"Gets a < b.` + says + `","parameters":` + plainSchema + `}}`,
			`{"type":"function","function":{"name":"mcp_zoo__idle","description":"mcp_zoo__idle","parameters":{"type":"object","properties":{}}}}`,
		},
		"anthropic": {
			`{"name":"mcp_ant__idle","description":"mcp_ant__idle","input_schema":{"type":"object","properties":{}}}`,
			`{"name":"` + plain + `","description":"Gets a < b.` + says + `","input_schema":` + plainSchema + `}`,
			`{"name":"mcp_zoo__idle","description":"mcp_zoo__idle","input_schema":{"type":"object","properties":{}}}`,
		},
		"google": {
			`{"functionDeclarations":[{"name":"mcp_ant__idle","description":"mcp_ant__idle"},{"name":"` + plain + `","description":"Gets a < b.` + says +
				`","parameters":{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993},"kind":{"type":"string","enum":["a","b"]}},"required":["n"]}},` +
				`{"name":"mcp_zoo__idle","description":"mcp_zoo__idle"}]}`,
		},
	} {
		got := w.call(t, viewer, http.MethodGet, "/api/v1/agents/"+agent.Slug+"/tools?format="+format, nil)
		got.want(http.StatusOK)
		if diff := cmp.Diff(`{"tools":[`+strings.Join(want, ",")+"]}\n", string(got.body)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
	path := "/api/v1/agents/" + agent.Slug + "/tools"
	mcp, plainly := w.call(t, viewer, http.MethodGet, path+"?format=mcp", nil), w.call(t, viewer, http.MethodGet, path, nil)
	if string(mcp.body) != string(plainly.body) {
		t.Errorf("without a format: %s", plainly.body)
	}
}

func TestAnUnknownToolFormatIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, agent := w.createKey(t, connectors.RoleViewer), w.Agent(t)
	for _, format := range []string{"gemini", "OpenAI", "mcp,openai", "%20"} {
		got := w.call(t, viewer, http.MethodGet, "/api/v1/agents/"+agent.Slug+"/tools?format="+format, nil)
		got.problem(http.StatusUnprocessableEntity, "invalid")
		if diff := cmp.Diff([]string{"format"}, got.locations()); diff != "" {
			t.Error(diff)
		}
	}
	w.call(t, viewer, http.MethodGet, "/api/v1/agents/nobody/tools?format=openai", nil).problem(http.StatusNotFound, "not-found")
}

func TestAnAgentWithoutToolsHasAnEmptyList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, agent := w.createKey(t, connectors.RoleViewer), w.Agent(t)
	for _, format := range []string{"mcp", "openai", "anthropic", "google"} {
		got := w.call(t, viewer, http.MethodGet, "/api/v1/agents/"+agent.Slug+"/tools?format="+format, nil)
		if got.want(http.StatusOK); string(got.body) != `{"tools":[]}`+"\n" {
			t.Errorf("%s: %s", format, got.body)
		}
	}
}

func TestAgentTools_ListGrantedTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.createSyncedConnectors(t)
	admin, agent, theirs := w.createKey(t, connectors.RoleAdmin), w.createGrantedAgent(t), w.AgentIn(t, w.Other)
	w.SyncedIn(t, w.Tenant, w.Connector(t).ID, "not_granted")
	w.SyncedIn(t, w.Other, w.ConnectorIn(t, w.Other).ID, "secret_tool")
	path := "/api/v1/agents/" + agent.Slug + "/tools"
	named := func() []string {
		t.Helper()
		var out []string
		for _, tool := range w.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK)["tools"].([]any) {
			out = append(out, tool.(map[string]any)["name"].(string))
		}
		return out
	}
	if diff := cmp.Diff([]string{"mcp_ant__idle", connectors.ExposedName("zoo", "get.thing"), "mcp_zoo__idle"}, named()); diff != "" {
		t.Error(diff)
	}
	w.Grant(t, agent.ID, second.ID, fixture.Named("get.thing"))
	if diff := cmp.Diff([]string{"mcp_ant__idle", connectors.ExposedName("zoo", "get.thing")}, named()); diff != "" {
		t.Error(diff)
	}
	w.call(t, admin, http.MethodPatch, "/api/v1/connectors/"+second.Slug, `{"enabled": false}`).want(http.StatusOK)
	if diff := cmp.Diff([]string{"mcp_ant__idle"}, named()); diff != "" {
		t.Error(diff)
	}
	w.call(t, admin, http.MethodDelete, "/api/v1/connectors/"+first.Slug, nil)
	if got := named(); got != nil {
		t.Errorf("%v", got)
	}
	w.call(t, admin, http.MethodGet, "/api/v1/agents/"+theirs.ID.String()+"/tools", nil).problem(http.StatusNotFound, "not-found")
}

// TestAgentTools_LeavesOutToolsOfApps checks tools that models must not get (MCP Apps). Clients of MCP leave them out themselves.
func TestAgentTools_LeavesOutToolsOfApps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, agent, c := w.createKey(t, connectors.RoleViewer), w.Agent(t), w.Connector(t)
	w.Resynced(t, c.ID, fixture.Definition("shown"),
		fixture.DefinitionOf("refresh", `{"name":"refresh","inputSchema":{"type":"object"},"_meta":{"ui":{"visibility":["app"]}}}`))
	w.Grant(t, agent.ID, c.ID)
	for format, want := range map[string]int{"mcp": 2, "openai": 1, "anthropic": 1} {
		got := w.call(t, viewer, http.MethodGet, "/api/v1/agents/"+agent.Slug+"/tools?format="+format, nil).want(http.StatusOK)["tools"].([]any)
		if len(got) != want {
			t.Errorf("%s: %v", format, got)
		}
	}
}

func TestAgentTools_StatementsDoNotGrow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, agent := w.createKey(t, connectors.RoleViewer), w.Agent(t)
	count := func() int64 {
		before := w.Queries()
		w.call(t, viewer, http.MethodGet, "/api/v1/agents/"+agent.Slug+"/tools?format=google", nil).want(http.StatusOK)
		return w.Queries() - before
	}
	count() // stores the key's first use
	few := count()
	for range 5 {
		c := w.Connector(t)
		w.Grant(t, agent.ID, c.ID)
		w.Synced(t, c.ID, slices.Collect(func(yield func(string) bool) {
			for _, raw := range mcptest.Tools(100) {
				var tool struct{ Name string }
				if json.Unmarshal([]byte(raw), &tool) != nil || !yield(tool.Name) {
					return
				}
			}
		})...)
	}
	if many := count(); many > few+1 || many > 10 { // one more for definitions that are not cached
		t.Errorf("%d statements for none, %d for 500", few, many)
	}
}
