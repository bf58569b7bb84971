package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

// withURL sets a draft's server.
func withURL(url string) func(*connectors.Draft) {
	return func(d *connectors.Draft) { d.URL, d.RetryAttempts = url, 0 }
}

func TestSyncAnswersTheRunAndTheToolsAreThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upstream := mcptest.Start(t, mcptest.Script{Tools: []string{mcptest.Tool("search"), mcptest.Tool("create")}})
	c, member := w.Connector(t, withURL(upstream.URL)), w.createKey(t, connectors.RoleMember)

	for _, path := range []string{"/api/v1/connectors/" + c.ID.String() + "/sync_tools", "/connectors/" + c.Slug + "/sync_tools"} {
		run := w.call(t, member, http.MethodPost, path, nil).want(http.StatusOK)
		for field, want := range map[string]any{
			"connector_id": c.ID.String(), "agent_id": nil, "trigger": "api", "status": "ok", "tools_total": 2.0,
			"tools_changed": 0.0, "tools_removed": 0.0, "tools_quarantined": 0.0, "protocol_version": "2025-11-25", "error": nil,
		} {
			if run[field] != want {
				t.Errorf("%s is %v, want %v", field, run[field], want)
			}
		}
		if diff := cmp.Diff(noItems(), run["items"]); diff != "" {
			t.Error(diff)
		}
		if !isTime(run["started_at"]) || !isTime(run["finished_at"]) || run["duration_ms"] == nil {
			t.Errorf("%v", run)
		}
		again := w.call(t, member, http.MethodGet, "/api/v1/sync_runs/"+run["id"].(string), nil).want(http.StatusOK)
		if requests, _ := again["requests"].([]any); len(requests) == 0 {
			t.Errorf("the run tells none of its requests: %v", again)
		}
		delete(again, "requests") // only a single run has them
		if diff := cmp.Diff(run, again); diff != "" {
			t.Error(diff)
		}
	}
	got := w.call(t, member, http.MethodGet, "/api/v1/connectors/"+c.Slug, nil).want(http.StatusOK)
	if diff := cmp.Diff([]any{"create", "search"}, got["discovered_tools"]); diff != "" {
		t.Error(diff)
	}
	if got["status"] != "ok" || got["tool_count"] != 2.0 || !isTime(got["tools_last_synced_at"]) || got["auth_behaviour"] != "open" {
		t.Errorf("%v", got)
	}
	if diff := cmp.Diff(map[string]any{
		"name": "mcptest", "version": "1.0", "title": "A scripted server", "protocol_version": "2025-11-25", "instructions": "Be kind.",
	}, got["server"]); diff != "" {
		t.Error(diff)
	}
	runs := w.call(t, member, http.MethodGet, "/api/v1/connectors/"+c.Slug+"/sync_runs", nil).want(http.StatusOK)
	if n := len(runs["items"].([]any)); n != 2 {
		t.Errorf("%d runs", n)
	}
}

func TestSync_FailureIsBadGatewayWithPhase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upstream := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"tools/list": mcptest.Status(http.StatusInternalServerError, "remote words"),
	}})
	c, member := w.Connector(t, withURL(upstream.URL)), w.createKey(t, connectors.RoleMember)
	got := w.call(t, member, http.MethodPost, "/api/v1/connectors/"+c.Slug+"/sync_tools", nil)
	problem := got.problem(http.StatusBadGateway, "upstream")
	up := problem["upstream"].(map[string]any)
	if up["phase"] != "list" || up["http_status"] != 500.0 || up["rpc_code"] != nil || up["retryable"] != true {
		t.Errorf("%v", up)
	}
	after := w.call(t, member, http.MethodGet, "/api/v1/connectors/"+c.Slug, nil).want(http.StatusOK)
	last := after["last_error"].(map[string]any)
	if after["status"] != "error" || last["code"] != "http_status" || last["message"] != problem["detail"] || !isTime(last["at"]) {
		t.Errorf("%v", after)
	}
	runs := w.call(t, member, http.MethodGet, "/api/v1/connectors/"+c.Slug+"/sync_runs", nil).want(http.StatusOK)
	run := runs["items"].([]any)[0].(map[string]any)
	if diff := cmp.Diff(map[string]any{"code": "http_status", "message": problem["detail"]}, run["error"]); diff != "" || run["status"] != "error" {
		t.Error(diff, run)
	}
}

func TestARunTellsItsRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upstream := mcptest.Start(t, mcptest.Script{SessionID: "secret-session", On: map[string]mcptest.Handler{
		"tools/list": mcptest.Status(http.StatusInternalServerError, "remote words"),
	}})
	c, member := w.Connector(t, withURL(upstream.URL)), w.createKey(t, connectors.RoleMember)
	w.call(t, member, http.MethodPost, "/api/v1/connectors/"+c.Slug+"/sync_tools", nil).problem(http.StatusBadGateway, "upstream")
	newest := listItems(w.call(t, member, http.MethodGet, "/api/v1/connectors/"+c.Slug+"/sync_runs", nil).want(http.StatusOK))[0]
	if _, told := newest["requests"]; told {
		t.Error("the list of runs tells requests, too")
	}
	reply := w.call(t, member, http.MethodGet, "/api/v1/sync_runs/"+newest["id"].(string), nil)
	run := reply.want(http.StatusOK)
	var phases []string
	for _, r := range run["requests"].([]any) {
		r := r.(map[string]any)
		phases = append(phases, fmt.Sprint(r["phase"], " ", r["method"], " ", r["status"], " ", r["reason"]))
	}
	want := []string{"initialize POST 200 <nil>", "initialized POST 202 <nil>", "list POST 500 http_status", "close DELETE 204 <nil>"}
	if diff := cmp.Diff(want, phases[max(0, len(phases)-4):]); diff != "" || run["requests_left_out"] != nil || run["status"] != "error" {
		t.Error(diff, phases)
	}
	if all := string(reply.body); strings.Contains(all, "secret-session") || strings.Count(all, "remote words") != 1 || strings.Contains(all, upstream.URL) {
		t.Errorf("it tells more than that: %s", all)
	}
}

func TestASecondSyncIsToldThatOneIsRunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.Connector(t)
	w.Run(t, c.ID)
	w.call(t, w.createKey(t, connectors.RoleMember), http.MethodPost, "/api/v1/connectors/"+c.Slug+"/sync_tools", nil).
		problem(http.StatusConflict, "sync-running")
}

func TestASyncWithoutItsCredentialAsksForOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upstream := mcptest.Start(t, mcptest.Script{Bearer: "t-1", Tools: []string{mcptest.Tool("search")}})
	member, agent := w.createKey(t, connectors.RoleMember), w.Agent(t)
	c := w.Connector(t, withURL(upstream.URL), func(d *connectors.Draft) {
		d.CredentialMode, d.Auth = connectors.CredentialPerAgent, connectors.Auth{Type: connectors.AuthBearer}
	})
	path := "/api/v1/connectors/" + c.Slug + "/sync_tools"
	w.call(t, member, http.MethodPost, path, map[string]any{"agent": agent.Slug}).problem(http.StatusConflict, "credential-required")
	w.call(t, member, http.MethodPost, path, nil).problem(http.StatusConflict, "credential-required")
	w.call(t, member, http.MethodPost, path, map[string]any{"agent": "nobody"}).want(http.StatusNotFound)

	admin := w.createKey(t, connectors.RoleAdmin)
	credential := "/api/v1/connectors/" + c.Slug + "/agents/" + agent.Slug + "/credential"
	if got := w.call(t, admin, http.MethodPut, credential, map[string]any{"token": "t-1"}); got.status != http.StatusNoContent {
		t.Fatalf("%d %s", got.status, got.body)
	}
	run := w.call(t, member, http.MethodPost, path, map[string]any{"agent": agent.ID.String()}).want(http.StatusOK)
	if run["agent_id"] != agent.ID.String() || run["tools_total"] != 1.0 {
		t.Errorf("%v", run)
	}
	w.call(t, member, http.MethodPost, path, `{"agent": null}`).want(http.StatusOK)
}

func TestSyncQueuesWhereNobodyWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, member := w.Connector(t), w.createKey(t, connectors.RoleMember)
	run := w.call(t, member, http.MethodPost, "/api/v1/connectors/"+c.Slug+"/sync_tools?wait=false", nil).want(http.StatusAccepted)
	if run["status"] != "queued" || run["started_at"] != nil || run["finished_at"] != nil || run["duration_ms"] != nil {
		t.Errorf("%v", run)
	}
	w.call(t, member, http.MethodPost, "/api/v1/connectors/"+c.Slug+"/sync_tools?wait=perhaps", nil).
		problem(http.StatusUnprocessableEntity, "invalid")
	w.call(t, member, http.MethodGet, "/api/v1/sync_runs/"+run["id"].(string), nil).want(http.StatusOK)
}

func TestSyncAllQueuesEveryEnabledConnector(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Connector(t)
	w.Connector(t)
	w.Connector(t, func(d *connectors.Draft) { d.Enabled = false })
	w.ConnectorIn(t, w.Other)
	got := w.call(t, w.createKey(t, connectors.RoleMember), http.MethodPost, "/api/v1/sync_tools", nil).want(http.StatusAccepted)
	if diff := cmp.Diff(map[string]any{"queued": 2.0}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSyncRun_Cancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, member := w.Connector(t), w.createKey(t, connectors.RoleMember)
	run := w.Run(t, c.ID)
	path := "/api/v1/sync_runs/" + run.ID.String()
	w.call(t, w.createKey(t, connectors.RoleViewer), http.MethodPost, path+"/cancel", nil).problem(http.StatusForbidden, "denied")
	cancelled := w.call(t, member, http.MethodPost, path+"/cancel", nil).want(http.StatusOK)
	if by, _ := cancelled["cancelled_by"].(string); cancelled["status"] != "cancelled" || by == "" || !isTime(cancelled["finished_at"]) || cancelled["error"] != nil {
		t.Errorf("%v", cancelled)
	}
	w.call(t, member, http.MethodPost, path+"/cancel", nil).problem(http.StatusConflict, "sync-cancelled")
	got := w.call(t, member, http.MethodGet, "/api/v1/connectors/"+c.Slug, nil).want(http.StatusOK)
	if got["status"] != "never_synced" || got["last_error"] != nil {
		t.Errorf("%v", got)
	}
	w.call(t, member, http.MethodPost, "/api/v1/sync_runs/nothing/cancel", nil).want(http.StatusNotFound)
}
