package api_test

import (
	"net/http"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

func TestSendMethod_ReturnsResultOrFailureAndRecordsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"acme/search": mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, `{"hits":[1,2]}`) }),
		"acme/fail":   mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Failure(c, -32050, "No such index") }),
		"acme/list":   mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, `[1]`) }),
	}})
	admin := w.createKey(t, connectors.RoleAdmin)
	c := w.Connector(t, func(d *connectors.Draft) {
		d.URL, d.RetryAttempts, d.Methods = up.URL, 0, []string{"acme/*", "notifications/acme/done"}
	})
	path := "/api/v1/connectors/" + c.Slug + "/methods"
	send := func(body map[string]any) map[string]any {
		return w.call(t, admin, http.MethodPost, path, body).want(http.StatusOK)
	}

	got := send(map[string]any{"method": "acme/search", "params": map[string]any{"q": "x"}})
	if result, _ := got["result"].(map[string]any); len(result) != 1 || got["error"] != nil {
		t.Errorf("%v", got)
	}
	record := w.call(t, admin, http.MethodGet, "/api/v1/tool_calls/"+got["call_id"].(string), nil).want(http.StatusOK)
	if record["kind"] != "method" || record["name"] != "acme/search" || record["status"] != "success" || record["agent_id"] != nil || record["source"] != "api" {
		t.Errorf("%v", record)
	}
	got = send(map[string]any{"method": "acme/fail"})
	failure, _ := got["error"].(map[string]any)
	said, _ := got["upstream"].(map[string]any)
	if got["result"] != nil || failure["rpc_code"] != -32050.0 || said["said"] != "No such index" {
		t.Errorf("%v", got)
	}
	if got = send(map[string]any{"method": "acme/list"}); got["error"] == nil {
		t.Errorf("a result that is no object: %v", got)
	}
	if got = send(map[string]any{"method": "notifications/acme/done"}); got["error"] != nil || got["result"] != nil {
		t.Errorf("%v", got)
	}
	if last := up.Calls()[len(up.Calls())-1]; last.Method != "notifications/acme/done" || last.ID != nil {
		t.Errorf("the server got %+v", last)
	}
}

func TestSendMethod_RefusesWhatIsNotAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := mcptest.Start(t, mcptest.Script{})
	admin := w.createKey(t, connectors.RoleAdmin)
	c := w.Connector(t, func(d *connectors.Draft) { d.URL, d.Methods = up.URL, []string{"acme/*"} })
	own := w.Connector(t, func(d *connectors.Draft) {
		d.URL, d.Methods, d.Auth.Type, d.CredentialMode = up.URL, []string{"acme/*"}, connectors.AuthBearer, connectors.CredentialPerAgent
	})
	agent := w.Agent(t)
	for _, method := range []string{"tools/call", "initialize", "acme/", "other/a", ""} {
		w.call(t, admin, http.MethodPost, "/api/v1/connectors/"+c.Slug+"/methods", map[string]any{"method": method}).problem(http.StatusUnprocessableEntity, "invalid")
	}
	path := "/api/v1/connectors/" + own.Slug + "/methods"
	w.call(t, admin, http.MethodPost, path, map[string]any{"method": "acme/a"}).problem(http.StatusUnprocessableEntity, "invalid")
	got := w.call(t, admin, http.MethodPost, path, map[string]any{"method": "acme/a", "agent": agent.Slug}).want(http.StatusOK)
	if failure, _ := got["error"].(map[string]any); failure["code"] != "credential_required" {
		t.Errorf("%v", got)
	}
	w.call(t, w.createKey(t, connectors.RoleMember), http.MethodPost, path, map[string]any{"method": "acme/a"}).problem(http.StatusForbidden, "denied")
	if len(up.Calls()) != 0 {
		t.Errorf("the server got %v", up.Methods())
	}
}
