package api_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

// restrictBodiesToAuditors sets that arguments and results are for auditors alone.
func (w *world) restrictBodiesToAuditors(t *testing.T) {
	t.Helper()
	got := w.call(t, w.createKey(t, connectors.RoleOwner), http.MethodPatch, "/api/v1/tenant", `{"body_readers": "auditors"}`).want(http.StatusOK)
	if got["body_readers"] != "auditors" {
		t.Fatalf("%v", got)
	}
}

// createCallWithMarkers stores a call with a marker word in its arguments, result, progress and task.
func (w *world) createCallWithMarkers(t *testing.T, a connectors.Agent, c connectors.Connector) connectors.ToolCallID {
	t.Helper()
	id := w.createEndedCall(t, a, c, func(call *connectors.ToolCall) {
		call.Arguments, call.Content, call.Structured = []byte(`{"q":"hush"}`), []byte(`[{"type":"text","text":"hush"}]`), []byte(`{"hush":1}`)
	})
	w.AsSystem(t, `update tool_calls set task = $2, task_handle = 'handle', progress = '{"progress": 1, "message": "hush"}' where id = $1`,
		[]any{id, []byte(`{"status":"completed","statusMessage":"hush","hush":1}`)})
	return id
}

// TestBodies_AreForAuditorsAlone requests every address of the API as every role. A new one that shows
// arguments or results fails here.
func TestBodies_AreForAuditorsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.createTargets(t, w.Tenant)
	a, c := w.Agent(t), w.Connector(t)
	ids.call, ids.agent = w.createCallWithMarkers(t, a, c).String(), a.ID.String()
	call := "GET /api/v1/tool_calls/{id}"
	w.call(t, w.createKey(t, connectors.RoleViewer), http.MethodGet, "/api/v1/tool_calls/"+ids.call, nil).want(http.StatusOK)
	w.restrictBodiesToAuditors(t)
	reads := func(role connectors.Role) []string {
		var found []string
		key := w.createKey(t, role)
		for _, route := range slices.Sorted(maps.Keys(routes)) {
			method, pattern, _ := strings.Cut(route, " ")
			if method != http.MethodGet || !role.May(routes[route].needs) {
				continue
			}
			for _, query := range []string{"", "?task=true"} {
				got := w.call(t, key, method, ids.fillPattern(pattern)+query, nil)
				if strings.Contains(string(got.body), "hush") {
					found = append(found, route)
				}
			}
		}
		return slices.Compact(found)
	}
	for _, role := range connectors.Roles {
		var want []string
		if role == connectors.RoleAuditor {
			want = []string{call}
		}
		if diff := cmp.Diff(want, reads(role)); diff != "" {
			t.Errorf("a %s reads them at (-may +does):\n%s", role, diff)
		}
	}
}

func TestACallSaysThatItsBodiesAreWithheld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.createCallWithMarkers(t, w.Agent(t), w.Connector(t)).String()
	owner, auditor := w.createKey(t, connectors.RoleOwner), w.createKey(t, connectors.RoleAuditor)
	at := "/api/v1/tool_calls/" + id
	for _, key := range []string{owner, auditor} {
		if got := w.call(t, key, http.MethodGet, at, nil).want(http.StatusOK); got["bodies"] != "shown" || got["arguments"] == nil {
			t.Errorf("%v", got)
		}
	}
	w.restrictBodiesToAuditors(t)
	got := w.call(t, owner, http.MethodGet, at, nil).want(http.StatusOK)
	if got["bodies"] != "withheld" || got["arguments"] != nil || got["content"] != nil || got["structured_content"] != nil {
		t.Errorf("%v", got)
	}
	if got["status"] != "success" || got["tool"] == "" || got["response_bytes"] != 64.0 || got["progress"].(map[string]any)["progress"] != 1.0 {
		t.Errorf("what happened is withheld, too: %v", got)
	}
	if got := w.call(t, auditor, http.MethodGet, at, nil).want(http.StatusOK); got["bodies"] != "shown" || got["content"] == nil {
		t.Errorf("%v", got)
	}
	list := w.call(t, auditor, http.MethodGet, "/api/v1/tool_calls", nil).want(http.StatusOK)["items"].([]any)
	if one := list[0].(map[string]any); one["bodies"] != "withheld" || one["arguments"] != nil {
		t.Errorf("a list has them, which nobody put on record: %v", one)
	}
	w.call(t, owner, http.MethodPatch, "/api/v1/tenant", `{"body_readers": "everyone"}`).want(http.StatusOK)
	if got := w.call(t, owner, http.MethodGet, at, nil).want(http.StatusOK); got["bodies"] != "shown" {
		t.Errorf("%v", got)
	}
}

func TestAnAuditorsReadingIsOnRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, c := w.Agent(t), w.Connector(t)
	id, empty := w.createCallWithMarkers(t, a, c).String(), w.createEndedCall(t, a, c, func(call *connectors.ToolCall) { call.Arguments, call.Content, call.Structured = nil, nil, nil })
	auditor, target := w.createKey(t, connectors.RoleAuditor), connectors.ExposedName(c.Slug, "search")
	at := "/api/v1/tool_calls/" + id
	w.call(t, auditor, http.MethodGet, at, nil).want(http.StatusOK) // all roles may read it by now
	w.restrictBodiesToAuditors(t)
	w.call(t, auditor, http.MethodGet, at, nil).want(http.StatusOK)
	w.call(t, auditor, http.MethodGet, "/api/v1/tool_calls/"+empty.String(), nil).want(http.StatusOK) // there is nothing to read
	w.call(t, auditor, http.MethodGet, "/api/v1/tool_calls", nil).want(http.StatusOK)
	w.call(t, w.createKey(t, connectors.RoleOwner), http.MethodGet, at, nil).want(http.StatusOK)
	want := []any{map[string]any{"tool_call_id": id, "tool": "search"}}
	if diff := cmp.Diff(want, w.listAuditDetails(t, "tool_call.read", target)); diff != "" {
		t.Errorf("readings (-want +recorded):\n%s", diff)
	}
}

func TestBodyReaders_OwnerChangesWithAuditEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, role := range connectors.Roles {
		if role != connectors.RoleOwner {
			w.call(t, w.createKey(t, role), http.MethodPatch, "/api/v1/tenant", `{"body_readers": "auditors"}`).problem(http.StatusForbidden, "denied")
		}
	}
	w.call(t, w.createKey(t, connectors.RoleOwner), http.MethodPatch, "/api/v1/tenant", `{"body_readers": "nobody"}`).problem(http.StatusUnprocessableEntity, "invalid")
	w.restrictBodiesToAuditors(t)
	want := map[string]any{"before": map[string]any{"body_readers": "everyone"}, "after": map[string]any{"body_readers": "auditors"}}
	if diff := cmp.Diff(want, w.readLatestDetail(t, "tenant.configure")); diff != "" {
		t.Error(diff)
	}
}

// A decider sees the arguments until the decision. The result and later reads follow the history's rule.
func TestBodies_DeciderSeesArgumentsUntilDecision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.createTargets(t, w.Tenant)
	w.restrictBodiesToAuditors(t)
	waiting := func(role connectors.Role) map[string]any {
		return w.call(t, w.createKey(t, role), http.MethodGet, "/api/v1/approvals", nil).want(http.StatusOK)["items"].([]any)[0].(map[string]any)
	}
	if got := waiting(connectors.RoleMember)["arguments"]; cmp.Diff(map[string]any{"q": "x"}, got) != "" {
		t.Errorf("a member decides about %v", got)
	}
	for _, role := range []connectors.Role{connectors.RoleViewer, connectors.RoleAuditor} {
		if got := waiting(role)["arguments"]; got != nil {
			t.Errorf("a %s may not decide, and sees %v", role, got)
		}
	}
	got := w.call(t, w.createKey(t, connectors.RoleMember), http.MethodPost, "/api/v1/tool_calls/"+ids.call+"/deny", nil).want(http.StatusOK)
	if got["arguments"] != nil || got["bodies"] != "withheld" {
		t.Errorf("%v", got)
	}
}

// The response to one's own call has the result. Later reads follow the history's rule.
func TestBodies_CallerGetsTheResult(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAuto)
	w.restrictBodiesToAuditors(t)
	member := w.createKey(t, connectors.RoleMember)
	made := w.call(t, member, http.MethodPost, "/api/v1/agents/"+w.agent.Slug+"/tool_calls", `{"tool": "mcp_box__echo", "arguments": {"text": "mine"}}`).want(http.StatusCreated)
	if made["bodies"] != "shown" || made["content"] == nil || made["arguments"] == nil {
		t.Errorf("%v", made)
	}
	again := w.call(t, member, http.MethodGet, "/api/v1/tool_calls/"+made["id"].(string), nil).want(http.StatusOK)
	if again["bodies"] != "withheld" || again["content"] != nil || again["arguments"] != nil {
		t.Errorf("%v", again)
	}
}
