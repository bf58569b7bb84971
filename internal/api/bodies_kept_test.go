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

// bodiesForAuditors has an owner say that arguments and results are for auditors alone.
func (w *world) bodiesForAuditors(t *testing.T) {
	t.Helper()
	got := w.call(t, w.key(t, connectors.RoleOwner), http.MethodPatch, "/api/v1/tenant", `{"body_readers": "auditors"}`).want(http.StatusOK)
	if got["body_readers"] != "auditors" {
		t.Fatalf("%v", got)
	}
}

// hushed is a call with a word in all that was sent and answered, and in all that its server said meanwhile.
func (w *world) hushed(t *testing.T, a connectors.Agent, c connectors.Connector) connectors.ToolCallID {
	t.Helper()
	id := w.endedCall(t, a, c, func(call *connectors.ToolCall) {
		call.Arguments, call.Content, call.Structured = []byte(`{"q":"hush"}`), []byte(`[{"type":"text","text":"hush"}]`), []byte(`{"hush":1}`)
	})
	w.AsSystem(t, `update tool_calls set task = $2, task_handle = 'handle', progress = '{"progress": 1, "message": "hush"}' where id = $1`,
		[]any{id, []byte(`{"status":"completed","statusMessage":"hush","hush":1}`)})
	return id
}

// TestOnlyAnAuditorReadsWhatIsForAuditors asks for every address of the API, as every role: a new one that shows what was sent or answered fails here.
func TestOnlyAnAuditorReadsWhatIsForAuditors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.targetsIn(t, w.Tenant)
	a, c := w.Agent(t), w.Connector(t)
	ids.call, ids.agent = w.hushed(t, a, c).String(), a.ID.String()
	call := "GET /api/v1/tool_calls/{id}"
	w.call(t, w.key(t, connectors.RoleViewer), http.MethodGet, "/api/v1/tool_calls/"+ids.call, nil).want(http.StatusOK)
	w.bodiesForAuditors(t)
	reads := func(role connectors.Role) []string {
		var found []string
		key := w.key(t, role)
		for _, route := range slices.Sorted(maps.Keys(routes)) {
			method, pattern, _ := strings.Cut(route, " ")
			if method != http.MethodGet || !role.May(routes[route].needs) {
				continue
			}
			for _, query := range []string{"", "?task=true"} {
				got := w.call(t, key, method, ids.path(pattern)+query, nil)
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
	id := w.hushed(t, w.Agent(t), w.Connector(t)).String()
	owner, auditor := w.key(t, connectors.RoleOwner), w.key(t, connectors.RoleAuditor)
	at := "/api/v1/tool_calls/" + id
	for _, key := range []string{owner, auditor} {
		if got := w.call(t, key, http.MethodGet, at, nil).want(http.StatusOK); got["bodies"] != "shown" || got["arguments"] == nil {
			t.Errorf("%v", got)
		}
	}
	w.bodiesForAuditors(t)
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
	id, empty := w.hushed(t, a, c).String(), w.endedCall(t, a, c, func(call *connectors.ToolCall) { call.Arguments, call.Content, call.Structured = nil, nil, nil })
	auditor, target := w.key(t, connectors.RoleAuditor), connectors.ExposedName(c.Slug, "search")
	at := "/api/v1/tool_calls/" + id
	w.call(t, auditor, http.MethodGet, at, nil).want(http.StatusOK) // it is for everyone by now
	w.bodiesForAuditors(t)
	w.call(t, auditor, http.MethodGet, at, nil).want(http.StatusOK)
	w.call(t, auditor, http.MethodGet, "/api/v1/tool_calls/"+empty.String(), nil).want(http.StatusOK) // nothing is there to read
	w.call(t, auditor, http.MethodGet, "/api/v1/tool_calls", nil).want(http.StatusOK)
	w.call(t, w.key(t, connectors.RoleOwner), http.MethodGet, at, nil).want(http.StatusOK)
	want := []any{map[string]any{"tool_call_id": id, "tool": "search"}}
	if diff := cmp.Diff(want, w.audited(t, "tool_call.read", target)); diff != "" {
		t.Errorf("readings (-want +recorded):\n%s", diff)
	}
}

func TestWhoReadsBodiesIsAnOwnersChoiceAndOnRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, role := range connectors.Roles {
		if role != connectors.RoleOwner {
			w.call(t, w.key(t, role), http.MethodPatch, "/api/v1/tenant", `{"body_readers": "auditors"}`).problem(http.StatusForbidden, "denied")
		}
	}
	w.call(t, w.key(t, connectors.RoleOwner), http.MethodPatch, "/api/v1/tenant", `{"body_readers": "nobody"}`).problem(http.StatusUnprocessableEntity, "invalid")
	w.bodiesForAuditors(t)
	want := map[string]any{"before": map[string]any{"body_readers": "everyone"}, "after": map[string]any{"body_readers": "auditors"}}
	if diff := cmp.Diff(want, w.latest(t, "tenant.configure")); diff != "" {
		t.Error(diff)
	}
}

// Whoever decides sees what they decide about. What they are answered is the history's, and so are the arguments once it is decided.
func TestWhoeverDecidesSeesTheArgumentsUntilItIsDecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.targetsIn(t, w.Tenant)
	w.bodiesForAuditors(t)
	waiting := func(role connectors.Role) map[string]any {
		return w.call(t, w.key(t, role), http.MethodGet, "/api/v1/approvals", nil).want(http.StatusOK)["items"].([]any)[0].(map[string]any)
	}
	if got := waiting(connectors.RoleMember)["arguments"]; cmp.Diff(map[string]any{"q": "x"}, got) != "" {
		t.Errorf("a member decides about %v", got)
	}
	for _, role := range []connectors.Role{connectors.RoleViewer, connectors.RoleAuditor} {
		if got := waiting(role)["arguments"]; got != nil {
			t.Errorf("a %s may not decide, and sees %v", role, got)
		}
	}
	got := w.call(t, w.key(t, connectors.RoleMember), http.MethodPost, "/api/v1/tool_calls/"+ids.call+"/deny", nil).want(http.StatusOK)
	if got["arguments"] != nil || got["bodies"] != "withheld" {
		t.Errorf("%v", got)
	}
}

// What one calls oneself is one's own to see; looked at again, it is the history's.
func TestWhoeverCallsIsAnsweredWhole(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAuto)
	w.bodiesForAuditors(t)
	member := w.key(t, connectors.RoleMember)
	made := w.call(t, member, http.MethodPost, "/api/v1/agents/"+w.agent.Slug+"/tool_calls", `{"tool": "mcp_box__echo", "arguments": {"text": "mine"}}`).want(http.StatusCreated)
	if made["bodies"] != "shown" || made["content"] == nil || made["arguments"] == nil {
		t.Errorf("%v", made)
	}
	again := w.call(t, member, http.MethodGet, "/api/v1/tool_calls/"+made["id"].(string), nil).want(http.StatusOK)
	if again["bodies"] != "withheld" || again["content"] != nil || again["arguments"] != nil {
		t.Errorf("%v", again)
	}
}
