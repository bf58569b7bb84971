package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// callWorld is a world with an agent and a server with the tools "echo", "fail" and "wait".
type callWorld struct {
	*world
	agent     connectors.Agent
	connector connectors.Connector
	waiting   chan struct{} // receives a value for each call of wait
}

func newCallWorld(t *testing.T, approval connectors.ApprovalMode) *callWorld {
	t.Helper()
	w := &callWorld{world: newWorld(t), waiting: make(chan struct{}, 10)}
	w.watchDatabase(t)
	w.agent = w.Agent(t, func(a *connectors.Agent) { a.Approval = approval })
	w.connector = w.Connector(t, withURL(w.startUpstream(t)), func(d *connectors.Draft) { d.Name, d.Slug = "Box", "box" })
	w.call(t, w.createKey(t, connectors.RoleMember), http.MethodPost, "/api/v1/connectors/box/sync_tools", nil).want(http.StatusOK)
	w.grant(t, connectors.Grant{AllTools: true})
	return w
}

func (w *callWorld) grant(t *testing.T, g connectors.Grant) {
	t.Helper()
	g.AgentID, g.ConnectorID = w.agent.ID, w.connector.ID
	if err := w.Door().Agents().SetGrant(t.Context(), g); err != nil {
		t.Fatal(err)
	}
}

// watchDatabase subscribes to database notifications, as the program does.
func (w *callWorld) watchDatabase(t *testing.T) {
	t.Helper()
	ctx, end := context.WithCancel(context.WithoutCancel(t.Context()))
	heard := make(chan struct{}, 1)
	var tasks sync.WaitGroup
	tasks.Go(func() {
		_ = w.St.Watch(ctx, func(n store.ChangeEvent) { w.access.OnNotify(n); w.caller.OnNotify(n) }, func(yes bool) {
			w.access.SetConnected(yes)
			w.caller.SetConnected(yes)
			if yes {
				heard <- struct{}{}
			}
		})
	})
	w.caller.Start(ctx)
	t.Cleanup(func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Second)
		defer cancel()
		w.caller.Stop(stopping)
		end()
		tasks.Wait()
	})
	<-heard
}

func (w *callWorld) startUpstream(t *testing.T) string {
	t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "box", Version: "1"}, nil)
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)
	say := func(isError bool) sdk.ToolHandler {
		return func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{
				IsError: isError, Content: []sdk.Content{&sdk.TextContent{Text: string(r.Params.Arguments)}}, StructuredContent: json.RawMessage(`{"n":1}`),
			}, nil
		}
	}
	server.AddTool(&sdk.Tool{Name: "echo", InputSchema: schema, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, say(false))
	yes := true
	server.AddTool(&sdk.Tool{Name: "fail", InputSchema: schema, Annotations: &sdk.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes}}, say(true))
	server.AddTool(&sdk.Tool{Name: "wait", InputSchema: schema}, func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		w.waiting <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	up := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(func() {
		up.CloseClientConnections()
		up.Close()
	})
	return up.URL
}

// createCall requests a call.
func (w *callWorld) createCall(t *testing.T, tool, arguments string) reply {
	t.Helper()
	body := fmt.Sprintf(`{"tool": %q, "arguments": %s}`, connectors.ExposedName("box", tool), arguments)
	return w.call(t, w.createKey(t, connectors.RoleMember), http.MethodPost, "/api/v1/agents/"+w.agent.Slug+"/tool_calls", body)
}

func (w *callWorld) read(t *testing.T, call map[string]any) map[string]any {
	t.Helper()
	return w.call(t, w.createKey(t, connectors.RoleViewer), http.MethodGet, "/api/v1/tool_calls/"+call["id"].(string), nil).want(http.StatusOK)
}

// waitForStatus reads a call until it has the status.
func (w *callWorld) waitForStatus(t *testing.T, call map[string]any, status string) map[string]any {
	t.Helper()
	key := w.createKey(t, connectors.RoleViewer)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for deadline := time.After(30 * time.Second); ; {
		got := w.call(t, key, http.MethodGet, "/api/v1/tool_calls/"+call["id"].(string), nil).want(http.StatusOK)
		if got["status"] == status {
			return got
		}
		select {
		case <-again.C:
		case <-deadline:
			t.Fatalf("it is still %v", got)
		}
	}
}

func TestACallIsMadeAndIsOnRecordAtOnce(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAuto)
	made := w.createCall(t, "echo", `{"text": "5 < 6"}`)
	got := made.want(http.StatusCreated)
	if id, has := got["request_id"]; got["address"] != "192.0.2.1" || id != nil || !has { // without middleware requests have no id here
		t.Errorf("it came from %v with the request %v", got["address"], id)
	}
	if got["status"] != "success" || got["is_error"] != false || got["error"] != nil || got["source"] != "api" || got["caller"] != "test" {
		t.Errorf("%s", made.body)
	}
	content := got["content"].([]any)[0].(map[string]any)
	if content["text"] != `{"text":"5 < 6"}` || got["structured_content"].(map[string]any)["n"] != 1.0 || !isTime(got["completed_at"]) {
		t.Errorf("%s", made.body)
	}
	if diff := cmp.Diff(got, w.read(t, got)); diff != "" {
		t.Errorf("(-made +read):\n%s", diff)
	}
}

func TestAToolsFailureIsAnErrorWithItsContent(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAuto)
	got := w.createCall(t, "fail", `{}`).want(http.StatusCreated)
	if got["status"] != "error" || got["is_error"] != true || got["error"] != nil || got["outcome"] != "tool_error" || got["content"] == nil {
		t.Errorf("%v", got)
	}
}

func TestACallThatPolicyRefusesSaysWhy(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAuto)
	w.grant(t, connectors.Grant{Tools: []string{"fail"}})
	got := w.createCall(t, "echo", `{}`).want(http.StatusCreated)
	if got["status"] != "error" || got["outcome"] != "refused" || got["error"].(map[string]any)["code"] != "not_granted" || got["content"] != nil {
		t.Errorf("%v", got)
	}
	if diff := cmp.Diff(got["error"], w.read(t, got)["error"]); diff != "" {
		t.Error(diff)
	}
}

func TestArgumentsThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAuto)
	got := w.createCall(t, "echo", `{"text": 7}`)
	doc := got.problem(http.StatusUnprocessableEntity, "invalid")
	if diff := cmp.Diff([]string{"arguments"}, got.locations()); diff != "" || !strings.Contains(doc["detail"].(string), "text") {
		t.Errorf("%s%s", diff, got.body)
	}
}

func TestCallTimeout_EndsBeforeTheConnectors(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAuto)
	member, path := w.createKey(t, connectors.RoleMember), "/api/v1/agents/"+w.agent.Slug+"/tool_calls"
	call := w.call(t, member, http.MethodPost, path, `{"tool": "mcp_box__wait", "timeout_ms": 200}`).want(http.StatusCreated)
	failure, _ := call["error"].(map[string]any)
	if message, _ := failure["message"].(string); call["status"] != "error" || failure["code"] != "timeout" || !strings.Contains(message, "within 200 milliseconds") {
		t.Errorf("%v", call)
	}
	w.call(t, member, http.MethodPost, path, `{"tool": "mcp_box__wait", "timeout_ms": 300001}`).problem(http.StatusUnprocessableEntity, "invalid")
}

func TestWhoCalledGetsAllWhateverIsKept(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAuto)
	w.call(t, w.createKey(t, connectors.RoleOwner), http.MethodPatch, "/api/v1/tenant", `{"call_history": "none"}`).want(http.StatusOK)
	w.grant(t, connectors.Grant{AllTools: true, Tools: nil})
	got := w.createCall(t, "echo", `{"text": "a"}`).want(http.StatusCreated)
	if got["content"] == nil || got["arguments"].(map[string]any)["text"] != "a" {
		t.Errorf("%v", got)
	}
	kept := w.read(t, got)
	if kept["status"] != "success" || kept["content"] != nil || kept["arguments"] != nil || kept["structured_content"] != nil {
		t.Errorf("%v", kept)
	}
}

func TestACallWaitsForAPersonAndIsMadeOnce(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAlwaysAsk)
	member, viewer := w.createKey(t, connectors.RoleMember), w.createKey(t, connectors.RoleViewer)
	waits := w.createCall(t, "echo", `{"text": "please"}`).want(http.StatusCreated)
	if waits["status"] != "pending_approval" || waits["completed_at"] != nil || waits["content"] != nil {
		t.Errorf("%v", waits)
	}
	for key, arguments := range map[string]any{member: map[string]any{"text": "please"}, viewer: nil} {
		list := w.call(t, key, http.MethodGet, "/api/v1/approvals", nil).want(http.StatusOK)["items"].([]any)
		if len(list) != 1 {
			t.Fatalf("%v wait", list)
		}
		a := list[0].(map[string]any)
		if a["id"] != waits["id"] || a["tool"] != "mcp_box__echo" || a["annotations"].(map[string]any)["readOnlyHint"] != true || !isTime(a["expires_at"]) {
			t.Errorf("%v", a)
		}
		if diff := cmp.Diff(arguments, a["arguments"]); diff != "" {
			t.Error(diff)
		}
	}
	path := "/api/v1/tool_calls/" + waits["id"].(string)
	if got := w.call(t, member, http.MethodPost, path+"/approve", nil).want(http.StatusOK); got["status"] == "denied" || got["id"] != waits["id"] {
		t.Errorf("%v", got)
	}
	done := w.waitForStatus(t, waits, "success")
	if done["approved_by"] == "" || done["content"] == nil {
		t.Errorf("%v", done)
	}
	for _, second := range []string{"/approve", "/deny", "/cancel"} {
		w.call(t, member, http.MethodPost, path+second, nil).problem(http.StatusConflict, "conflict")
	}
	if left := w.call(t, viewer, http.MethodGet, "/api/v1/approvals", nil).want(http.StatusOK)["items"].([]any); len(left) > 0 {
		t.Errorf("%v", left)
	}
	w.call(t, member, http.MethodPost, "/api/v1/tool_calls/"+w.createCall(t, "echo", `{"text": "again"}`).want(http.StatusCreated)["id"].(string)+"/deny", nil).want(http.StatusOK)
	w.createCall(t, "echo", `{"text": "once more"}`).want(http.StatusCreated)
	left := w.call(t, viewer, http.MethodGet, "/api/v1/approvals", nil).want(http.StatusOK)["items"].([]any)
	if diff := cmp.Diff(map[string]any{"calls": 2.0, "denied": 1.0}, left[0].(map[string]any)["history"]); diff != "" {
		t.Error(diff)
	}
}

func TestApproval_HasEffectAndHistory(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAlwaysAsk)
	w.createCall(t, "fail", `{"text": "all of it"}`).want(http.StatusCreated)
	list := w.call(t, w.createKey(t, connectors.RoleMember), http.MethodGet, "/api/v1/approvals", nil).want(http.StatusOK)["items"].([]any)
	got := list[0].(map[string]any)
	want := map[string]any{
		"annotations": map[string]any{"destructiveHint": true, "openWorldHint": true, "readOnlyHint": false, "idempotentHint": false},
		"effect":      "The server says this tool may delete or overwrite data. It reaches the web, other systems or people.",
		"history":     map[string]any{"calls": 0.0, "denied": 0.0},
		"arguments":   map[string]any{"text": "all of it"},
	}
	for name, value := range want {
		if diff := cmp.Diff(value, got[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestADeniedCallIsNotMade(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAlwaysAsk)
	member := w.createKey(t, connectors.RoleMember)
	waits := w.createCall(t, "echo", `{}`).want(http.StatusCreated)
	path := "/api/v1/tool_calls/" + waits["id"].(string)
	got := w.call(t, member, http.MethodPost, path+"/deny", `{"reason": "Not on a Friday."}`).want(http.StatusOK)
	if got["status"] != "denied" || got["outcome"] != "denied" || !strings.Contains(fmt.Sprint(got["error"]), "Friday") {
		t.Errorf("%v", got)
	}
	w.call(t, member, http.MethodPost, path+"/approve", nil).problem(http.StatusConflict, "conflict")
	if diff := cmp.Diff(got, w.read(t, got)); diff != "" {
		t.Error(diff)
	}
}

func TestAToolMayBeAllowedForAWhile(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAlwaysAsk)
	waits := w.createCall(t, "echo", `{}`).want(http.StatusCreated)
	w.call(t, w.createKey(t, connectors.RoleMember), http.MethodPost, "/api/v1/tool_calls/"+waits["id"].(string)+"/approve", `{"allow_for_s": 7200}`).want(http.StatusOK)
	w.waitForStatus(t, waits, "success")
	if got := w.createCall(t, "echo", `{"text": "again"}`).want(http.StatusCreated); got["status"] != "success" {
		t.Errorf("%v", got)
	}
	if got := w.createCall(t, "fail", `{}`).want(http.StatusCreated); got["status"] != "pending_approval" {
		t.Errorf("another tool: %v", got)
	}
}

func TestCancelCall_WaitingOrRunning(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAlwaysAsk)
	member := w.createKey(t, connectors.RoleMember)
	waits := w.createCall(t, "echo", `{}`).want(http.StatusCreated)
	path := "/api/v1/tool_calls/" + waits["id"].(string)
	if got := w.call(t, member, http.MethodPost, path+"/cancel", nil).want(http.StatusOK); got["status"] != "cancelled" {
		t.Errorf("%v", got)
	}
	w.call(t, member, http.MethodPost, path+"/cancel", nil).problem(http.StatusConflict, "conflict")

	runs := w.createCall(t, "wait", `{}`).want(http.StatusCreated)
	path = "/api/v1/tool_calls/" + runs["id"].(string)
	w.call(t, member, http.MethodPost, path+"/approve", nil).want(http.StatusOK)
	<-w.waiting
	w.call(t, member, http.MethodPost, path+"/cancel", nil).want(http.StatusOK)
	w.waitForStatus(t, runs, "cancelled")
}
