package mcpadmin_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcpadmin"
)

// message is a JSON-RPC answer.
type message struct {
	Error  *struct{ Code int }
	Result struct {
		ResultType   string
		RequestState string
		IsError      bool
		Meta         map[string]struct{ Code string } `json:"_meta"`
	}
}

// calls sends one call of the modern era, with what else stands in its parameters.
func (w *world) calls(t *testing.T, key, tool string, arguments any, more map[string]any) message {
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
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got message
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return got
}

// What a person agreed to is good for the same call by the same caller, whichever process gets it.
func TestAnAnswerIsGoodForWhatWasAskedAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.arrange(t)
	mine, others := w.key(t, w.Tenant, connectors.RoleOwner), w.key(t, w.Tenant, connectors.RoleOwner)
	grant := func(tools ...string) map[string]any {
		return map[string]any{"agent": "support", "connector": "linear", "tools": tools}
	}
	begun := w.calls(t, mine, "grant_tools", grant("search"), nil)
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
		"another tool":    {mine, "review_tool_change", example["review_tool_change"], begun.Result.RequestState},
		"another key":     {others, "grant_tools", grant("search"), begun.Result.RequestState},
		"a made-up state": {mine, "grant_tools", grant("search"), "bm90aGluZw"},
	} {
		if got := w.calls(t, test.key, test.tool, test.arguments, yes(test.state)); got.Error == nil || got.Error.Code != -32602 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, answer := range map[string]any{
		"nothing":             map[string]any{},
		"yes, without a mark": map[string]any{"confirm": map[string]any{"action": "accept", "content": map[string]any{}}},
		"no":                  map[string]any{"confirm": map[string]any{"action": "decline"}},
	} {
		got := w.calls(t, mine, "grant_tools", grant("search"), map[string]any{"requestState": begun.Result.RequestState, "inputResponses": answer})
		if !got.Result.IsError || got.Result.Meta["patchbay/reason"].Code != "declined" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if w.Rows(t) != was {
		t.Error("something changed")
	}
	if got := w.calls(t, mine, "grant_tools", grant("search"), yes(begun.Result.RequestState)); got.Error != nil || got.Result.IsError {
		t.Errorf("the same call: %+v", got)
	}
	if acts := w.byMCP(t); len(acts) != 1 || !strings.HasPrefix(acts[0], "agent_grant.set") {
		t.Errorf("acts %q", acts)
	}
}

// A question stands for minutes. Whoever asked it may be somebody else by the time it is answered.
func TestWhoLosesTheirRoleWhileAPersonIsAskedDoesNothing(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{newest, before} {
		w := newWorld(t)
		w.arrange(t)
		w.Member(t, connectors.RoleOwner)
		m, token := w.acting(t, connectors.RoleAdmin, connectors.ScopeAdmin)
		a := w.enter(t, token, revision, "accept")
		a.meanwhile = func() {
			if err := w.Door().SetMemberRole(t.Context(), m.UserID, connectors.RoleViewer); err != nil {
				t.Error(err)
			}
		}
		if code, _ := a.refused(t, "grant_tools", example["grant_tools"]); code != "denied" || len(a.asked) != 1 {
			t.Errorf("%s: %s, asked %q", revision, code, a.asked)
		}
		if acts := w.byMCP(t); len(acts) != 0 {
			t.Errorf("%s: acts %q", revision, acts)
		}
	}
}
