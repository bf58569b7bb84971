package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

// TestAPI_CallTool_WithholdsSkills checks calls outside of the gateway, and what the history keeps of them.
func TestAPI_CallTool_WithholdsSkills(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAuto)
	up := mcptest.Start(t, mcptest.Script{
		Tools: []string{`{"name":"pay","inputSchema":{"type":"object"}}`},
		On: map[string]mcptest.Handler{"tools/call": mcptest.Answer("application/json", func(c mcptest.Call) string {
			return mcptest.Result(c, `{"content":[{"type":"text","text":"kept"},{"type":"resource","resource":{"uri":"skill://a/SKILL.md","text":"evil"}}]}`)
		})},
	})
	c := w.Connector(t, withURL(up.URL), func(d *connectors.Draft) { d.Name, d.Slug = "Skills", "skills" })
	member := w.createKey(t, connectors.RoleMember)
	w.call(t, member, http.MethodPost, "/api/v1/connectors/skills/sync_tools", nil).want(http.StatusOK)
	if err := w.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: w.agent.ID, ConnectorID: c.ID, AllTools: true}); err != nil {
		t.Fatal(err)
	}
	path := "/api/v1/agents/" + w.agent.Slug + "/tool_calls"
	check := func(got map[string]any) {
		t.Helper()
		text := encodeBody(t, got)
		if strings.Contains(text, "evil") || !strings.Contains(text, "kept") || !strings.Contains(text, "an admin accepted") {
			t.Errorf("%s", text)
		}
	}
	made := w.call(t, member, http.MethodPost, path, `{"tool":"mcp_skills__pay","arguments":{}}`).want(http.StatusCreated)
	check(made)
	check(w.call(t, member, http.MethodPost, path+"/batch", `{"calls":[{"tool":"mcp_skills__pay","arguments":{}}]}`).want(http.StatusOK))
	check(w.call(t, member, http.MethodGet, "/api/v1/tool_calls/"+made["id"].(string), nil).want(http.StatusOK))
}

func encodeBody(t *testing.T, body map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
