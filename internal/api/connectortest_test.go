package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

func TestATestShowsTheServerAndStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upstream := mcptest.Start(t, mcptest.Script{Bearer: "t-1", Tools: []string{mcptest.Tool("search"), `3`}})
	admin := w.createKey(t, connectors.RoleAdmin)
	got := w.call(t, admin, http.MethodPost, "/api/v1/connectors/test", map[string]any{
		"name": "Tried", "url": upstream.URL, "auth": map[string]any{"type": "bearer", "token": "t-1"},
	}).want(http.StatusOK)
	tools := got["tools"].([]any)
	if got["ok"] != true || got["error"] != nil || len(tools) != 1 || got["server"].(map[string]any)["name"] != "mcptest" {
		t.Fatalf("%v", got)
	}
	if capabilities, _ := got["capabilities"].(map[string]any); capabilities["tools"] == nil {
		t.Errorf("capabilities: %v", got["capabilities"])
	}
	tool := tools[0].(map[string]any)
	if tool["name"] != "search" || tool["title"] != "" || tool["description"] != "Does search." {
		t.Errorf("%v", tool)
	}
	list := w.call(t, admin, http.MethodGet, "/api/v1/connectors", nil).want(http.StatusOK)
	if diff := cmp.Diff([]any{}, list["items"]); diff != "" {
		t.Error(diff)
	}
}

func TestATestAnswersAlsoWhereTheServerFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upstream := mcptest.Start(t, mcptest.Script{Bearer: "t-1"})
	gone := mcptest.Start(t, mcptest.Script{})
	gone.Stop()
	admin := w.createKey(t, connectors.RoleAdmin)
	for url, want := range map[string]map[string]any{
		upstream.URL:                 {"code": "unauthorized", "phase": "initialize", "http_status": 401.0, "rpc_code": nil, "retryable": false},
		gone.URL:                     {"code": "unreachable", "phase": "connect", "http_status": nil, "rpc_code": nil, "retryable": true},
		"http://169.254.169.254/mcp": {"code": "blocked", "phase": "connect", "http_status": nil, "rpc_code": nil, "retryable": false},
	} {
		got := w.call(t, admin, http.MethodPost, "/api/v1/connectors/test",
			map[string]any{"name": "Tried", "url": url, "retry_attempts": 0}).want(http.StatusOK)
		failure := got["error"].(map[string]any)
		if failure["message"] == "" {
			t.Errorf("%s: no message", url)
		}
		delete(failure, "message")
		if diff := cmp.Diff(want, failure); diff != "" || got["ok"] != false {
			t.Errorf("%s: %s", url, diff)
		}
		if diff := cmp.Diff([]any{}, got["tools"]); diff != "" {
			t.Error(diff)
		}
	}
}
