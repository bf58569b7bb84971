package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func TestCallTools_EachCallHasItsResult(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAuto)
	member := w.createKey(t, connectors.RoleMember)
	path := "/api/v1/agents/" + w.agent.Slug + "/tool_calls"
	made := w.call(t, member, http.MethodPost, path+"/batch?format=text", `{"calls": [
		{"tool": "mcp_box__echo", "arguments": {"text": "first"}},
		{"tool": "mcp_box__gone"},
		{"tool": "mcp_box__echo", "arguments": {"text": 7}},
		{"tool": "mcp_box__echo", "arguments": {"text": "last"}}]}`).want(http.StatusOK)
	var got []string
	for _, item := range made["results"].([]any) {
		result := item.(map[string]any)
		line := fmt.Sprint(result["status"])
		if problem, ok := result["problem"].(map[string]any); ok {
			line += " " + problem["errors"].([]any)[0].(map[string]any)["location"].(string)
		}
		if call, ok := result["call"].(map[string]any); ok {
			line += fmt.Sprint(" ", call["status"], " ", call["formatted"])
		}
		got = append(got, line)
	}
	want := []string{`201 success {"text":"first"}`, "422 tool", "422 arguments", `201 success {"text":"last"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if items := w.call(t, member, http.MethodGet, path, nil).want(http.StatusOK)["items"].([]any); len(items) != 3 { // also the one with the bad argument
		t.Errorf("%d calls are on record, want 3", len(items))
	}

	for _, body := range []string{`{"calls": []}`, `{}`, `{"calls": [` + strings.Repeat(`{"tool": "x"},`, 20) + `{"tool": "x"}]}`} {
		w.call(t, member, http.MethodPost, path+"/batch", body).want(http.StatusUnprocessableEntity)
	}
	w.call(t, w.createKey(t, connectors.RoleViewer), http.MethodPost, path+"/batch", `{"calls": [{"tool": "mcp_box__echo"}]}`).want(http.StatusForbidden)
}
