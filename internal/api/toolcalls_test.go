package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func newCallID(t *testing.T) connectors.ToolCallID {
	t.Helper()
	return connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())}
}

// createPendingCall stores a call that waits for approval.
func (w *world) createPendingCall(t *testing.T, tenant connectors.TenantID, a connectors.Agent, c connectors.Connector) connectors.ToolCallID {
	t.Helper()
	call := connectors.ToolCall{
		ID: newCallID(t), AgentID: &a.ID, AgentSlug: a.Slug, ConnectorID: &c.ID, ConnectorSlug: c.Slug, Tool: "search",
		ExposedName: connectors.ExposedName(c.Slug, "search"), Source: connectors.SourceGateway, Arguments: []byte(`{"q":"x"}`), StartedAt: time.Now(),
	}
	if err := w.St.Tenant(tenant).Calls().InsertPendingCall(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	return call.ID
}

// createApproval makes a call wait for approval, with an account if one is given.
func (w *world) createApproval(t *testing.T, tenant connectors.TenantID, a connectors.Agent, c connectors.Connector, id connectors.ToolCallID, account ...connectors.CredentialID) {
	t.Helper()
	n := store.NewApproval{
		ID: id, AgentID: a.ID, ConnectorID: c.ID, Tool: "search", ExposedName: connectors.ExposedName(c.Slug, "search"), CallHash: []byte(id.String()),
		Call: `{"q":"x"}`, ExpiresAt: time.Now().Add(time.Hour),
	}
	if len(account) > 0 {
		n.Account = account[0]
	}
	if _, _, err := w.St.Tenant(tenant).Calls().RequestApproval(t.Context(), n); err != nil {
		t.Fatal(err)
	}
}

// createEndedCall stores a call with its whole history.
func (w *world) createEndedCall(t *testing.T, a connectors.Agent, c connectors.Connector, change func(*connectors.ToolCall)) connectors.ToolCallID {
	t.Helper()
	ended := time.Now()
	call := connectors.ToolCall{
		ID: newCallID(t), AgentID: &a.ID, AgentSlug: a.Slug, ConnectorID: &c.ID, ConnectorSlug: c.Slug, Kind: connectors.CallTool, Tool: "search",
		ExposedName: connectors.ExposedName(c.Slug, "search"), Source: connectors.SourceAPI, Caller: "test", Status: connectors.CallSuccess,
		Outcome: connectors.OutcomeOK, Arguments: []byte(`{"q":"a<b","n":9007199254740993}`), Content: []byte(`[{"type":"text","text":"5 < 6"}]`),
		Structured: []byte(`{"z":1,"a":1.50}`), StartedAt: ended.Add(-1500 * time.Millisecond), CompletedAt: &ended, Duration: 1500 * time.Millisecond,
		RequestBytes: 32, ResponseBytes: 64,
	}
	change(&call)
	if err := w.St.System().Calls().EndCalls(t.Context(), []store.OwnedCall{{Tenant: w.Tenant, ToolCall: call}}); err != nil {
		t.Fatal(err)
	}
	return call.ID
}

func TestToolCall_ApprovalWaitIsApartFromTheDuration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, a, c := w.createKey(t, connectors.RoleViewer), w.Agent(t), w.Connector(t)
	id := w.createEndedCall(t, a, c, func(*connectors.ToolCall) {})
	path := "/api/v1/tool_calls/" + id.String()
	if got := w.call(t, viewer, http.MethodGet, path, nil).want(http.StatusOK); got["approval_wait_ms"] != nil {
		t.Errorf("a call that did not wait waited %v ms", got["approval_wait_ms"])
	}
	w.AsOwner(t, "update tool_calls set waited_us = 1200000 where id = '"+id.String()+"'")
	one := w.call(t, viewer, http.MethodGet, path, nil).want(http.StatusOK)
	listed := w.call(t, viewer, http.MethodGet, "/api/v1/tool_calls", nil).want(http.StatusOK)["items"].([]any)[0].(map[string]any)
	for _, got := range []map[string]any{one, listed} {
		if got["approval_wait_ms"] != 1200.0 || got["duration_ms"] != 1500.0 {
			t.Errorf("%v of %v ms", got["approval_wait_ms"], got["duration_ms"])
		}
	}
}

func TestACallIsShownAsTheHistoryKeptIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, a, c := w.createKey(t, connectors.RoleViewer), w.Agent(t), w.Connector(t)
	id := w.createEndedCall(t, a, c, func(*connectors.ToolCall) {})
	reply := w.call(t, viewer, http.MethodGet, "/api/v1/tool_calls/"+id.String(), nil)
	got := reply.want(http.StatusOK)
	for field, want := range map[string]any{
		"id": id.String(), "agent_id": a.ID.String(), "agent": a.Slug, "connector_id": c.ID.String(), "connector": c.Slug, "kind": "tool",
		"tool": connectors.ExposedName(c.Slug, "search"), "name": "search", "source": "api", "caller": "test", "status": "success", "outcome": "ok",
		"duration_ms": 1500.0, "is_error": false, "error": nil, "truncated": false, "task": nil, "token_id": nil, "credential_id": nil, "account": nil,
		"structured_valid": nil, "structured_error": nil, "new_session": false,
	} {
		if got[field] != want {
			t.Errorf("%s is %v, want %v", field, got[field], want)
		}
	}
	if !isTime(got["started_at"]) || !isTime(got["completed_at"]) {
		t.Errorf("%v, %v", got["started_at"], got["completed_at"])
	}
	for _, spelled := range []string{`{"q":"a<b","n":9007199254740993}`, `[{"type":"text","text":"5 < 6"}]`, `{"z":1,"a":1.50}`} {
		if !strings.Contains(string(reply.body), spelled) {
			t.Errorf("%s is not in %s", spelled, reply.body)
		}
	}
}

func TestACallWithoutResultSaysWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, a, c := w.createKey(t, connectors.RoleViewer), w.Agent(t), w.Connector(t)
	id := w.createEndedCall(t, a, c, func(call *connectors.ToolCall) {
		call.Status, call.Outcome, call.ErrorCode, call.ErrorMessage = connectors.CallError, connectors.OutcomeRefused, "held", "It changed."
		call.Arguments, call.Content, call.Structured = nil, nil, nil
	})
	got := w.call(t, viewer, http.MethodGet, "/api/v1/tool_calls/"+id.String(), nil).want(http.StatusOK)
	if diff := cmp.Diff(map[string]any{"code": "held", "message": "It changed."}, got["error"]); diff != "" {
		t.Error(diff)
	}
	if got["arguments"] != nil || got["content"] != nil || got["structured_content"] != nil || got["status"] != "error" || got["outcome"] != "refused" {
		t.Errorf("%v", got)
	}
}

func TestCall_SaysWhetherItsResultFits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, a, c := w.createKey(t, connectors.RoleViewer), w.Agent(t), w.Connector(t)
	fits := w.createEndedCall(t, a, c, func(call *connectors.ToolCall) { call.StructuredValid = new(true) })
	withheld := w.createEndedCall(t, a, c, func(call *connectors.ToolCall) {
		call.StructuredValid, call.StructuredError = new(false), `The field "n" must be an integer.`
		call.Status, call.ErrorCode, call.ErrorMessage = connectors.CallError, "invalid_result", "It is withheld."
	})
	path := "/api/v1/tool_calls/"
	if got := w.call(t, viewer, http.MethodGet, path+fits.String(), nil).want(http.StatusOK); got["structured_valid"] != true || got["structured_error"] != nil {
		t.Errorf("%v, %v", got["structured_valid"], got["structured_error"])
	}
	got := w.call(t, viewer, http.MethodGet, path+withheld.String()+"?format=text", nil).want(http.StatusOK)
	if got["structured_valid"] != false || got["structured_error"] != `The field "n" must be an integer.` || got["structured_content"] == nil {
		t.Errorf("%v, %v, %v", got["structured_valid"], got["structured_error"], got["structured_content"])
	}
	if got["formatted"] != "It is withheld." {
		t.Errorf("the model gets %v", got["formatted"])
	}
	list := w.call(t, viewer, http.MethodGet, path[:len(path)-1], nil).want(http.StatusOK)["items"].([]any)
	if len(list) != 2 || list[0].(map[string]any)["structured_valid"] != false || list[1].(map[string]any)["structured_valid"] != true {
		t.Errorf("%v", list)
	}
}

func TestListCalls_OrderAndFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer := w.createKey(t, connectors.RoleViewer)
	ann, bo, c, d := w.Agent(t), w.Agent(t), w.Connector(t), w.Connector(t)
	name := map[string]string{
		w.createEndedCall(t, ann, c, func(*connectors.ToolCall) {}).String():                                         "first",
		w.createEndedCall(t, bo, c, func(call *connectors.ToolCall) { call.Status = connectors.CallError }).String(): "second",
		w.createEndedCall(t, ann, d, func(call *connectors.ToolCall) { call.Tool = "send" }).String():                "third",
		w.createPendingCall(t, w.Tenant, bo, d).String():                                                             "fourth",
		w.createPendingCall(t, w.Other, w.AgentIn(t, w.Other), w.ConnectorIn(t, w.Other)).String():                   "another tenant's",
	}
	for path, want := range map[string][]string{
		"/api/v1/tool_calls":                                                  {"fourth", "third", "second", "first"},
		"/api/v1/tool_calls?agent=" + ann.Slug:                                {"third", "first"},
		"/api/v1/agents/" + ann.ID.String() + "/tool_calls":                   {"third", "first"},
		"/api/v1/agents/" + bo.Slug + "/tool_calls?status=error":              {"second"},
		"/api/v1/tool_calls?connector=" + d.Slug:                              {"fourth", "third"},
		"/api/v1/tool_calls?tool=send":                                        {"third"},
		"/api/v1/tool_calls?tool=" + connectors.ExposedName(c.Slug, "search"): {"second", "first"},
		"/api/v1/tool_calls?status=pending_approval":                          {"fourth"},
		"/api/v1/tool_calls?limit=2":                                          {"fourth", "third"},
	} {
		var got []string
		for _, item := range w.call(t, viewer, http.MethodGet, path, nil).want(http.StatusOK)["items"].([]any) {
			call := item.(map[string]any)
			if call["content"] != nil {
				t.Errorf("%s: a list has contents: %v", path, call)
			}
			got = append(got, name[call["id"].(string)])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	w.call(t, viewer, http.MethodGet, "/api/v1/tool_calls?agent=nobody", nil).problem(http.StatusNotFound, "not-found")
	w.call(t, viewer, http.MethodGet, "/api/v1/tool_calls?connector=nothing", nil).problem(http.StatusNotFound, "not-found")
	w.call(t, viewer, http.MethodGet, "/api/v1/tool_calls?status=done", nil).problem(http.StatusUnprocessableEntity, "invalid")
	w.call(t, viewer, http.MethodGet, "/api/v1/tool_calls?cursor=invented", nil).problem(http.StatusBadRequest, "malformed")
}

func TestAListOfCallsGoesOnWhereItsPageEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, a, c := w.createKey(t, connectors.RoleViewer), w.Agent(t), w.Connector(t)
	var made []string
	for range 5 {
		made = append(made, w.createEndedCall(t, a, c, func(*connectors.ToolCall) {}).String())
	}
	slices.Reverse(made)
	var got []string
	for cursor := ""; ; {
		page := w.call(t, viewer, http.MethodGet, "/api/v1/tool_calls?limit=2&cursor="+cursor, nil).want(http.StatusOK)
		for _, item := range page["items"].([]any) {
			got = append(got, item.(map[string]any)["id"].(string))
		}
		next, more := page["next_cursor"].(string)
		if !more {
			break
		}
		cursor = next
	}
	if diff := cmp.Diff(made, got); diff != "" {
		t.Error(diff)
	}
}

func TestACallsFieldsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	member, a := w.createKey(t, connectors.RoleMember), w.Agent(t)
	pending := "/api/v1/tool_calls/" + w.createPendingCall(t, w.Tenant, a, w.Connector(t)).String()
	for _, test := range []struct{ path, body, at string }{
		{"/api/v1/agents/" + a.Slug + "/tool_calls", `{}`, "tool"},
		{"/api/v1/agents/" + a.Slug + "/tool_calls", `{"tool": "mcp_none__none"}`, "tool"},
		{"/api/v1/agents/" + a.Slug + "/tool_calls", `{"tool": "mcp_none__none", "arguments": []}`, "arguments"},
		{"/api/v1/agents/" + a.Slug + "/tool_calls", `{"tool": "mcp_none__none", "arguments": null}`, "arguments"},
		{"/api/v1/agents/" + a.Slug + "/tool_calls", `{"tool": "mcp_none__none", "args": {}}`, "args"},
		{pending + "/approve", `{"allow_for_s": -1}`, "allow_for_s"},
		{pending + "/approve", `{"allow_for_s": 86401}`, "allow_for_s"},
		{pending + "/approve", `{"reason": "yes"}`, "reason"},
		{pending + "/deny", `{"reason": "` + strings.Repeat("a", 501) + `"}`, "reason"},
		{pending + "/deny", `{"allow_for_s": 1}`, "allow_for_s"},
	} {
		got := w.call(t, member, http.MethodPost, test.path, test.body)
		got.problem(http.StatusUnprocessableEntity, "invalid")
		if diff := cmp.Diff([]string{test.at}, got.locations()); diff != "" {
			t.Errorf("%s %s: %s", test.path, test.body, diff)
		}
	}
}
