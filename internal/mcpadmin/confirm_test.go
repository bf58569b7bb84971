package mcpadmin_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcpadmin"
)

type rpcMessage struct {
	Error  *struct{ Code int }
	Result struct {
		ResultType   string
		RequestState string
		IsError      bool
		Meta         map[string]struct{ Code string } `json:"_meta"`
	}
}

func (w *testEnv) callModern(t *testing.T, key, tool string, arguments any, more map[string]any) rpcMessage {
	t.Helper()
	params := map[string]any{"name": tool, "arguments": arguments, "_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    newest,
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "a", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{"form": map[string]any{}}},
	}}
	for name, value := range more {
		params[name] = value
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+mcpadmin.Path, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Accept": "application/json, text/event-stream", "Content-Type": "application/json", "Authorization": "Bearer " + key,
		"MCP-Protocol-Version": newest, "Mcp-Method": "tools/call", "Mcp-Name": tool,
	} {
		r.Header.Set(name, value)
	}
	res, err := w.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got rpcMessage
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return got
}

// A confirmation is valid for the same call by the same caller, in any process.
func TestConfirm_AnswerIsBoundToCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seedTool(t)
	mine, others := w.newAPIKey(t, w.Tenant, connectors.RoleOwner), w.newAPIKey(t, w.Tenant, connectors.RoleOwner)
	grant := func(tools ...string) map[string]any {
		return map[string]any{"agent": "support", "connector": "linear", "tools": tools}
	}
	begun := w.callModern(t, mine, "grant_tools", grant("search"), nil)
	if begun.Result.ResultType != "input_required" || begun.Result.RequestState == "" {
		t.Fatalf("begun with %+v", begun)
	}
	w.rebuild(t)
	was := w.Rows(t)
	for name, test := range map[string]struct {
		key, tool string
		arguments map[string]any
		state     string
	}{
		"other arguments": {mine, "grant_tools", grant("search", "create_issue"), begun.Result.RequestState},
		"another tool":    {mine, "review_tool_change", exampleArguments["review_tool_change"], begun.Result.RequestState},
		"another key":     {others, "grant_tools", grant("search"), begun.Result.RequestState},
		"a made-up state": {mine, "grant_tools", grant("search"), "bm90aGluZw"},
	} {
		if got := w.callModern(t, test.key, test.tool, test.arguments, acceptAnswer(test.state)); got.Error == nil || got.Error.Code != -32602 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, answer := range map[string]any{
		"nothing":             map[string]any{},
		"yes, without a mark": map[string]any{"confirm": map[string]any{"action": "accept", "content": map[string]any{}}},
		"no":                  map[string]any{"confirm": map[string]any{"action": "decline"}},
	} {
		got := w.callModern(t, mine, "grant_tools", grant("search"), map[string]any{"requestState": begun.Result.RequestState, "inputResponses": answer})
		if !got.Result.IsError || got.Result.Meta["patchbay/reason"].Code != "declined" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if w.Rows(t) != was {
		t.Error("something changed")
	}
	if got := w.callModern(t, mine, "grant_tools", grant("search"), acceptAnswer(begun.Result.RequestState)); got.Error != nil || got.Result.IsError {
		t.Errorf("the same call: %+v", got)
	}
	if acts := w.mcpEvents(t); len(acts) != 1 || !strings.HasPrefix(acts[0], "agent_grant.set") {
		t.Errorf("acts %q", acts)
	}
}

// The caller may lose its role during a question.
func TestConfirm_RoleLostMeanwhile(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{newest, before} {
		w := newWorld(t)
		w.seedTool(t)
		w.Member(t, connectors.RoleOwner)
		m, token := w.newMemberProgram(t, connectors.RoleAdmin, connectors.ScopeAdmin)
		a := w.connect(t, token, revision, "accept")
		a.meanwhile = func() {
			if err := w.Door().People().SetRole(t.Context(), m.UserID, connectors.RoleViewer); err != nil {
				t.Error(err)
			}
		}
		if code, _ := a.callRefused(t, "grant_tools", exampleArguments["grant_tools"]); code != "denied" || len(a.questions) != 1 {
			t.Errorf("%s: %s, asked %q", revision, code, a.questions)
		}
		if acts := w.mcpEvents(t); len(acts) != 0 {
			t.Errorf("%s: acts %q", revision, acts)
		}
	}
}
