package api_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/testing/fixture"
)

func TestTryTool_CallsWithoutAnAgentAfterConfirmation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const erase, search = `{"name":"erase","inputSchema":{"type":"object"}}`, `{"name":"search","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}},"annotations":{"readOnlyHint":true}}`
	up := mcptest.Start(t, mcptest.Script{Tools: []string{erase, search}, On: map[string]mcptest.Handler{
		"tools/call": mcptest.Answer("application/json", func(c mcptest.Call) string {
			return mcptest.Result(c, `{"content":[{"type":"text","text":"3 found"}]}`)
		}),
	}})
	admin, member := w.createKey(t, connectors.RoleAdmin), w.createKey(t, connectors.RoleMember)
	c := w.Connector(t, func(d *connectors.Draft) { d.URL = up.URL })
	w.Resynced(t, c.ID, fixture.DefinitionOf("erase", erase), fixture.DefinitionOf("search", search))
	path := func(tool string) string { return "/api/v1/connectors/" + c.Slug + "/tools/" + tool + "/call" }

	got := w.call(t, admin, http.MethodPost, path("search")+"?format=text", map[string]any{"arguments": map[string]any{"q": "x"}}).want(http.StatusCreated)
	if got["status"] != "success" || got["agent_id"] != nil || got["agent"] != "" || got["source"] != "api" || got["caller"] == "" || got["formatted"] != "3 found" {
		t.Errorf("%v", got)
	}
	if read := w.call(t, admin, http.MethodGet, "/api/v1/tool_calls/"+got["id"].(string), nil).want(http.StatusOK); read["agent_id"] != nil || read["name"] != "search" {
		t.Errorf("the history has %v", read)
	}
	refused := w.call(t, admin, http.MethodPost, path("erase"), map[string]any{})
	refused.problem(http.StatusConflict, "confirmation-required")
	if !strings.Contains(string(refused.body), "confirmation_required") {
		t.Errorf("%s", refused.body)
	}
	w.call(t, admin, http.MethodPost, path("erase"), map[string]any{"confirm": true}).want(http.StatusCreated)

	w.call(t, admin, http.MethodPost, path("search"), map[string]any{"arguments": map[string]any{"q": 1}}).problem(http.StatusUnprocessableEntity, "invalid")
	w.call(t, admin, http.MethodPost, path("search"), map[string]any{"agent": w.Agent(t).Slug}).problem(http.StatusUnprocessableEntity, "invalid")
	w.call(t, admin, http.MethodPost, path("none"), map[string]any{}).problem(http.StatusNotFound, "not-found")
	w.call(t, member, http.MethodPost, path("search"), map[string]any{}).problem(http.StatusForbidden, "denied")
	if n := len(up.Methods()); n == 0 || strings.Count(strings.Join(up.Methods(), " "), "tools/call") != 2 {
		t.Errorf("the server got %v", up.Methods())
	}
}
