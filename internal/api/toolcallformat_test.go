package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func decodeJSON(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestGetCall_ResultInTheFormOfAProvider(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, a, c := w.createKey(t, connectors.RoleViewer), w.Agent(t), w.Connector(t)
	tool := connectors.ExposedName(c.Slug, "search")
	ended := w.createEndedCall(t, a, c, func(*connectors.ToolCall) {}).String()
	failed := w.createEndedCall(t, a, c, func(call *connectors.ToolCall) {
		call.Status, call.Outcome, call.IsError, call.Structured = connectors.CallError, connectors.OutcomeToolError, true, nil
	}).String()
	refused := w.createEndedCall(t, a, c, func(call *connectors.ToolCall) {
		call.Status, call.Outcome, call.ErrorCode, call.ErrorMessage = connectors.CallError, connectors.OutcomeRefused, "held", "It <changed>."
		call.Content, call.Structured = nil, nil
	}).String()
	for path, want := range map[string]string{
		ended + "?format=text":                       `"5 < 6\n\n{\"z\":1,\"a\":1.50}"`,
		ended + "?format=openai":                     `{"role":"tool","tool_call_id":"` + ended + `","content":"5 < 6\n\n{\"z\":1,\"a\":1.50}"}`,
		ended + "?format=openai&call_id=call_7":      `{"role":"tool","tool_call_id":"call_7","content":"5 < 6\n\n{\"z\":1,\"a\":1.50}"}`,
		ended + "?format=anthropic&call_id=toolu_7":  `{"type":"tool_result","tool_use_id":"toolu_7","content":[{"type":"text","text":"5 < 6"},{"type":"text","text":"{\"z\":1,\"a\":1.50}"}]}`,
		failed + "?format=anthropic&call_id=toolu_7": `{"type":"tool_result","tool_use_id":"toolu_7","content":[{"type":"text","text":"5 < 6"}],"is_error":true}`,
		refused + "?format=text":                     `"It <changed>."`,
		refused + "?format=openai&call_id=c":         `{"role":"tool","tool_call_id":"c","content":"The tool failed: It <changed>."}`,
		refused + "?format=google":                   `{"functionResponse":{"name":"` + tool + `","response":{"error":"It <changed>."}}}`,
	} {
		got := w.call(t, viewer, http.MethodGet, "/api/v1/tool_calls/"+path, nil).want(http.StatusOK)["formatted"]
		if diff := cmp.Diff(decodeJSON(t, want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	pending := w.createPendingCall(t, w.Tenant, a, c).String()
	notKept := w.createEndedCall(t, a, c, func(call *connectors.ToolCall) { call.Content, call.Structured = nil, nil }).String()
	for _, path := range []string{ended, pending + "?format=openai", notKept + "?format=openai"} {
		if got, ok := w.call(t, viewer, http.MethodGet, "/api/v1/tool_calls/"+path, nil).want(http.StatusOK)["formatted"]; ok {
			t.Errorf("%s: formatted is %v", path, got)
		}
	}
	w.call(t, viewer, http.MethodGet, "/api/v1/tool_calls/"+ended+"?format=mcp", nil).want(http.StatusUnprocessableEntity)
}

func TestCallTool_ResultInTheFormOfAProvider(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAuto)
	member := w.createKey(t, connectors.RoleMember)
	path := "/api/v1/agents/" + w.agent.Slug + "/tool_calls?format=anthropic&call_id=toolu_1"
	made := w.call(t, member, http.MethodPost, path, `{"tool": "mcp_box__echo", "arguments": {"text": "a < b"}}`).want(http.StatusCreated)
	content := made["content"].([]any)[0].(map[string]any)
	want := map[string]any{"type": "tool_result", "tool_use_id": "toolu_1", "content": []any{map[string]any{"type": "text", "text": content["text"]}}}
	if diff := cmp.Diff(want, made["formatted"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGetCall_WithheldResultIsNotFormatted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.createEndedCall(t, w.Agent(t), w.Connector(t), func(*connectors.ToolCall) {})
	w.call(t, w.createKey(t, connectors.RoleOwner), http.MethodPatch, "/api/v1/tenant", `{"body_readers": "auditors"}`).want(http.StatusOK)
	got := w.call(t, w.createKey(t, connectors.RoleViewer), http.MethodGet, "/api/v1/tool_calls/"+id.String()+"?format=text", nil).want(http.StatusOK)
	if text, ok := got["formatted"]; ok || got["bodies"] != "withheld" {
		t.Errorf("bodies is %v, formatted %v", got["bodies"], text)
	}
}
