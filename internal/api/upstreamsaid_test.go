package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

func TestUpstreamSaid_IsInRunTestPingAndProblem(t *testing.T) {
	t.Parallel()
	withData := mcptest.Answer("application/json", func(c mcptest.Call) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"db down","data":{"host":"db-1"}}}`, c.ID)
	})
	for name, tc := range map[string]struct {
		handler mcptest.Handler
		status  float64
		said    string
	}{
		"text":           {mcptest.Status(400, "Mcp-Session-Id header is required"), 400, "Mcp-Session-Id header is required"},
		"JSON":           {mcptest.Status(503, `{"error":"disk full"}`), 503, `{"error":"disk full"}`},
		"HTML":           {mcptest.Status(502, "<h1>Bad gateway</h1>"), 502, "<h1>Bad gateway</h1>"},
		"JSON-RPC":       {withData, 200, "db down\n" + `{"host":"db-1"}`},
		"event":          {mcptest.Answer("text/event-stream", func(c mcptest.Call) string { return mcptest.Event(mcptest.Failure(c, -32603, "boom inside")) }), 200, "boom inside"},
		"control":        {mcptest.Status(500, "\x1b[31mred\u202e"), 500, `\u001b[31mred\u202e`},
		"nothing at all": {mcptest.Status(500, ""), 500, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": tc.handler}})
			admin := w.createKey(t, connectors.RoleAdmin)
			c := w.Connector(t, func(d *connectors.Draft) { d.URL, d.RetryAttempts = up.URL, 0 })
			check := func(where string, doc map[string]any, status string) {
				t.Helper()
				got, _ := doc["upstream"].(map[string]any)
				said, _ := got["said"].(string)
				if got[status] != tc.status || said != tc.said {
					t.Errorf("%s: %v, want %v %q", where, got, tc.status, tc.said)
				}
			}
			path := "/api/v1/connectors/" + c.Slug
			check("problem", w.call(t, admin, http.MethodPost, path+"/sync_tools", nil).problem(http.StatusBadGateway, "upstream"), "http_status")
			runs, _ := w.call(t, admin, http.MethodGet, path+"/sync_runs", nil).want(http.StatusOK)["items"].([]any)
			run, _ := runs[0].(map[string]any)
			check("list of runs", run, "status")
			check("run", w.call(t, admin, http.MethodGet, fmt.Sprint("/api/v1/sync_runs/", run["id"]), nil).want(http.StatusOK), "status")
			check("test", w.call(t, admin, http.MethodPost, "/api/v1/connectors/test", map[string]any{"name": "x", "url": up.URL, "retry_attempts": 0}).want(http.StatusOK), "status")
			check("ping", w.call(t, admin, http.MethodPost, path+"/ping", nil).want(http.StatusOK), "status")
			if text := w.log.String(); tc.said != "" && strings.Contains(text, tc.said) {
				t.Error("the log has it")
			}
		})
	}
}
