package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func TestAgentSize_ByProvider(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.createSyncedConnectors(t)
	viewer, agent := w.createKey(t, connectors.RoleViewer), w.createGrantedAgent(t)
	path := "/api/v1/agents/" + agent.Slug + "/size"
	tokens := map[string]float64{}
	for _, provider := range []string{"mcp", "openai", "anthropic", "google"} {
		got := w.call(t, viewer, http.MethodGet, path+"?provider="+provider, nil).want(http.StatusOK)
		parts := 0.0
		for _, one := range got["connectors"].([]any) {
			parts += one.(map[string]any)["tokens"].(float64)
		}
		if got["provider"] != provider || got["tools"] != 3.0 || got["tokens"] != parts || parts < 50 || got["margin_percent"].(float64) < 10 || got["bytes"].(float64) < 200 {
			t.Errorf("%s: %v", provider, got)
		}
		tokens[provider] = parts
	}
	if tokens["anthropic"] <= tokens["openai"] {
		t.Errorf("%v", tokens)
	}
	if got := w.call(t, viewer, http.MethodGet, path, nil).want(http.StatusOK); got["tokens"] != tokens["openai"] {
		t.Errorf("without a provider: %v", got)
	}
	refused := w.call(t, viewer, http.MethodGet, path+"?provider=gemini", nil)
	refused.problem(http.StatusUnprocessableEntity, "invalid")
	if diff := cmp.Diff([]string{"provider"}, refused.locations()); diff != "" {
		t.Error(diff)
	}
}

func TestUnusedToolsComeWithWhatTheyCost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.createSyncedConnectors(t)
	viewer, agent := w.createKey(t, connectors.RoleViewer), w.createGrantedAgent(t)
	path := "/api/v1/agents/" + agent.Slug + "/unused_tools"
	got := w.call(t, viewer, http.MethodGet, path, nil).want(http.StatusOK)
	if got["seen"] != 3.0 || got["too_new"] != 3.0 || len(got["tools"].([]any)) != 0 || got["tokens_saved"] != 0.0 {
		t.Errorf("what was granted just now is too new: %v", got)
	}
	w.Age(t, first.ID, 60*24*time.Hour)
	w.Age(t, second.ID, 60*24*time.Hour)
	w.createEndedCall(t, agent, second, func(c *connectors.ToolCall) { c.Tool, c.Status = "idle", connectors.CallError })
	got = w.call(t, viewer, http.MethodGet, path+"?days=7&provider=google", nil).want(http.StatusOK)
	var names []string
	saved := 0.0
	for _, one := range got["tools"].([]any) {
		tool := one.(map[string]any)
		names = append(names, tool["connector"].(string)+" "+tool["name"].(string)+" "+tool["tool"].(string))
		saved += tool["tokens"].(float64)
	}
	if diff := cmp.Diff([]string{"ant idle mcp_ant__idle", "zoo get.thing " + connectors.ExposedName("zoo", "get.thing")}, names); diff != "" {
		t.Error(diff)
	}
	since, err := time.Parse(time.RFC3339, got["since"].(string))
	if age := time.Since(since); err != nil || age < 6*24*time.Hour || age > 8*24*time.Hour {
		t.Errorf("since %v", got["since"])
	}
	if got["tokens_saved"] != saved || saved == 0 || got["tokens"].(float64) <= saved || got["too_new"] != 0.0 || got["provider"] != "google" {
		t.Errorf("%v", got)
	}
	for _, days := range []string{"0", "366", "many"} {
		w.call(t, viewer, http.MethodGet, path+"?days="+days, nil).problem(http.StatusUnprocessableEntity, "invalid")
	}
}
