package gateway_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

const leanNames = "call_reading call_writing call_destroying describe_tools find_tools"

// lean gives the agent a lean list.
func lean(a *connectors.Agent) { a.ToolList = connectors.ToolListLean }

// withHintedTools adds a tool of each kind: read_note, add_note and drop_note.
func (u *upstream) withHintedTools() *upstream {
	u.withEchoTools("read_note", "add_note", "drop_note")
	for name, hints := range map[string]*sdk.ToolAnnotations{
		"read_note": {ReadOnlyHint: true}, "add_note": {DestructiveHint: new(false)},
	} {
		u.AddTool(&sdk.Tool{Name: name, Description: "Notes: " + name + ".", Annotations: hints, InputSchema: json.RawMessage(
			`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)}, echoHandler(name))
	}
	return u
}

func TestLeanList_FindsAndCallsTools(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t, lean)
	c := b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withHintedTools().url)
	b.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.AllTools, g.PinnedTools = true, []string{"add_note"} })
	token := b.Token(t, agent.ID)
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			s := connect(t, b.url+"/mcp", token, e)
			if names := toolNames(t, s); names != leanNames+" mcp_one__add_note" {
				t.Fatalf("the list has %s", names)
			}
			if own := toolNames(t, connect(t, b.url+"/mcp/one", token, e)); own != "add_note drop_note read_note" {
				t.Errorf("the connector's own address lists %s", own)
			}
			var found struct {
				Tools []struct {
					CallWith   string   `json:"call_with"`
					Definition sdk.Tool `json:"definition"`
				} `json:"tools"`
			}
			result := call(t, s, "find_tools", map[string]any{"words": "read a note"})
			if err := json.Unmarshal([]byte(textOf(result)), &found); err != nil || len(found.Tools) == 0 {
				t.Fatalf("%s, %v", textOf(result), err)
			}
			best := found.Tools[0]
			if best.Definition.Name != "mcp_one__read_note" || best.CallWith != "call_reading" || best.Definition.InputSchema == nil {
				t.Errorf("the best is %+v", best)
			}
			for caller, tool := range map[string]string{"call_reading": "read_note", "call_writing": "add_note", "call_destroying": "drop_note"} {
				got := call(t, s, caller, map[string]any{"name": "mcp_one__" + tool, "arguments": map[string]any{"text": "hi"}})
				if textOf(got) != tool+": hi" {
					t.Errorf("%s answers %q", caller, textOf(got))
				}
				if got := textOf(call(t, s, "mcp_one__"+tool, map[string]any{"text": "hi"})); got != tool+": hi" {
					t.Errorf("by its name %s answers %q", tool, got)
				}
				for _, other := range []string{"call_reading", "call_writing", "call_destroying"} {
					if other == caller {
						continue
					}
					refused := call(t, s, other, map[string]any{"name": "mcp_one__" + tool, "arguments": map[string]any{"text": "hi"}})
					if want := "Call mcp_one__" + tool + " with " + caller + ": "; !refused.IsError || !strings.HasPrefix(textOf(refused), want) {
						t.Errorf("%s answers %q, not %q", other, textOf(refused), want)
					}
				}
			}
			described := textOf(call(t, s, "describe_tools", map[string]any{"names": []string{"mcp_one__drop_note", "mcp_one__none"}}))
			if !strings.Contains(described, `"call_with":"call_destroying"`) || !strings.Contains(described, `"unknown":["mcp_one__none"]`) {
				t.Errorf("described as %s", described)
			}
		})
	}
}

func TestLeanTools_RefuseInvalidArguments(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t, lean)
	c := b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withHintedTools().url)
	b.Grant(t, agent.ID, c.ID)
	at, token := b.url+"/mcp", bearerHeader(b.Token(t, agent.ID))
	for _, params := range []string{
		`"name":"find_tools"`, `"name":"find_tools","arguments":{"words":" "}`, `"name":"find_tools","arguments":{"words":7}`,
		`"name":"find_tools","arguments":{"q":"note"}`, `"name":"describe_tools","arguments":{"names":[]}`, `"name":"describe_tools","arguments":{"names":"a"}`,
		`"name":"call_reading","arguments":{}`, `"name":"call_reading","arguments":{"name":"mcp_one__none"}`, `"name":"call_reading","arguments":{"name":"call_reading"}`,
		`"name":"call_reading","arguments":{"name":"mcp_one__read_note","arguments":"{}"}`, `"name":"call_reading","arguments":{"name":"mcp_one__read_note","text":"hi"}`,
		`"name":"call_reading","arguments":{"name":"mcp_one__read_note","name":"mcp_one__read_note"}`, `"name":"call_reading","arguments":{"name":"mcp_one__read_note","arguments":{"text":7}}`,
	} {
		got := post(t, at, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+params+`,`+modernMeta+`}}`, "Authorization", token)
		if r := got.rpc(t); r.Error == nil || r.Error.Code != -32602 {
			t.Errorf("%s: %s", params, got.body)
		}
	}
}

func TestFullList_HasNoLeanTools(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	s := connect(t, b.url+"/mcp", b.Token(t, agent.ID), modern)
	for name := range strings.FieldsSeq(leanNames) {
		if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: map[string]any{"words": "a"}}); err == nil {
			t.Errorf("%s is callable", name)
		}
	}
}

func TestLeanList_ChangesAreNotified(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			agent := b.newAutoAgent(t)
			c := b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a").url)
			b.Grant(t, agent.ID, c.ID)
			s := listen(t, b.url+"/mcp", b.Token(t, agent.ID), e)
			b.listening(t, 1)
			lean(&agent)
			if _, err := b.Door().Agents().Update(t.Context(), agent); err != nil {
				t.Fatal(err)
			}
			s.wantNotification(t, leanNames)
			b.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.PinnedTools = []string{"a"} })
			s.wantNotification(t, leanNames+" mcp_one__a")
		})
	}
}

// TestLean_PermitsWhatFullPermits makes the same calls as two agents with the same random grants and approval mode. One has
// a full list and calls by name. The other has a lean list and calls through the tool that fits, or by name. Both get the
// same answers and leave the same records.
func TestLean_PermitsWhatFullPermits(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{}).withHintedTools()
	one, two := b.newConnector(t, "one", up.url), b.newConnector(t, "two", up.url)
	b.curated(t, two, store.CuratedTool{Name: "drop_note"}, // disabled
		store.CuratedTool{Name: "add_note", Curation: connectors.Curation{Enabled: true, Alias: "jot"}})
	random := rand.New(rand.NewPCG(7, 26))
	compared := 0
	for range 8 {
		mode := pick(random, connectors.ApprovalAuto, connectors.ApprovalAuto, connectors.ApprovalTrustedOnly, connectors.ApprovalAlwaysAsk)
		list := pick(random, connectors.ToolListLean, connectors.ToolListAuto)
		full := b.Agent(t, func(a *connectors.Agent) { a.Name, a.Approval = "Twin", mode })
		thin := b.Agent(t, func(a *connectors.Agent) { a.Name, a.Approval, a.ToolList = "Twin", mode, list })
		for _, c := range []connectors.Connector{one, two} {
			if random.IntN(4) == 0 {
				continue
			}
			grant := randomGrant(random)
			b.Grant(t, full.ID, c.ID, grant)
			b.Grant(t, thin.ID, c.ID, grant)
		}
		view, err := b.access.LoadUncached(t.Context(), b.Tenant, connectors.Ref(thin.ID.String()))
		if err != nil {
			t.Fatal(err)
		}
		fullToken, thinToken := b.Token(t, full.ID), b.Token(t, thin.ID)
		known := "" // a tool with recorded calls
		for range 12 {
			name := pick(random, "mcp_one__", "mcp_two__", "mcp_none__") + pick(random, "read_note", "add_note", "drop_note", "jot", "none")
			arguments := pick(random, `{"text":"hi"}`, `{"text":"hi"}`, `{"text":7}`, `{}`)
			direct := fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments)
			through := direct
			tool := view.Tool(name)
			if random.IntN(4) > 0 {
				caller := agentview.CallReading // of no importance for a tool that is not listed
				if tool != nil && tool.Listed() {
					caller = tool.CallWith()
				}
				through = fmt.Sprintf(`"name":%q,"arguments":{%s}`, caller, direct)
			}
			if tool != nil {
				known = name
			}
			want, got := b.callWithTasks(t, fullToken, direct), b.callWithTasks(t, thinToken, through)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s, %s: %s", mode, through, diff)
			}
		}
		if known == "" {
			continue
		}
		last := fmt.Sprintf(`"name":%q,"arguments":%s`, known, lastArguments)
		b.callWithTasks(t, fullToken, last)
		b.callWithTasks(t, thinToken, last)
		wantCalls, gotCalls := b.recordedCalls(t, full.ID), b.recordedCalls(t, thin.ID)
		compared += len(wantCalls)
		if diff := cmp.Diff(wantCalls, gotCalls, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
			t.Fatalf("%s: %s", mode, diff)
		}
	}
	if compared < 30 {
		t.Errorf("only %d records were compared", compared)
	}
}

// lastArguments are longer than those of the other calls of the property test.
const lastArguments = `{"text":[0,1,2,3,4,5,6,7,8,9]}`

func pick[T any](random *rand.Rand, choices ...T) T { return choices[random.IntN(len(choices))] }

// randomGrant returns an option that makes every grant the same.
func randomGrant(random *rand.Rand) func(*connectors.Grant) {
	some := func() []string {
		return slices.DeleteFunc([]string{"read_note", "add_note", "drop_note"}, func(string) bool { return random.IntN(2) == 0 })
	}
	all, tools, trusted, pinned := random.IntN(2) == 0, some(), some(), some()
	return func(g *connectors.Grant) {
		g.AllTools, g.Tools, g.TrustedTools, g.PinnedTools = all, tools, trusted, pinned
	}
}

// callWithTasks calls a tool as a modern client that accepts tasks, so that no call waits for an approval. It returns the
// answer without what differs in every call.
func (b *testEnv) callWithTasks(t *testing.T, token secret.Text, params string) string {
	t.Helper()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	got := post(t, b.url+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+params+`,`+meta+`}}`, "Authorization", bearerHeader(token))
	if at := strings.LastIndex(got.body, "data: {"); at >= 0 {
		got.body = got.body[at+len("data: "):]
	}
	var answer map[string]any
	if err := json.Unmarshal([]byte(got.body), &answer); err != nil {
		t.Fatalf("%s: %v", got.body, err)
	}
	removeVolatile(answer)
	plain, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

// removeVolatile removes ids and times.
func removeVolatile(value any) {
	object, _ := value.(map[string]any)
	for name, member := range object {
		switch name {
		case "taskId", "createdAt", "lastUpdatedAt", "ttlMs", "call_id":
			delete(object, name)
		default:
			removeVolatile(member)
		}
	}
}

// recordedCalls returns the calls of an agent without ids and times, once the one with lastArguments is recorded.
func (b *testEnv) recordedCalls(t *testing.T, agent connectors.AgentID) []connectors.ToolCall {
	t.Helper()
	var calls []connectors.ToolCall
	eventually(t, "the calls are recorded", func() bool {
		list, err := b.Door().Calls().List(t.Context(), store.CallFilter{Agent: &agent, Page: store.Page{Limit: store.MaxLimit}})
		if err != nil {
			t.Fatal(err)
		}
		calls = list.Items
		isRunning := func(c connectors.ToolCall) bool { return c.Status == connectors.CallRunning }
		return len(calls) > 0 && calls[0].RequestBytes == int64(len(lastArguments)) && !slices.ContainsFunc(calls, isRunning)
	})
	for i := range calls {
		c := &calls[i]
		c.ID, c.AgentID, c.AgentSlug, c.TokenID, c.TokenName, c.CredentialID, c.InstanceID = connectors.ToolCallID{}, nil, "", nil, "", nil, nil
		c.CallOrigin, c.StartedAt, c.CompletedAt, c.Duration, c.Waited = connectors.CallOrigin{}, time.Time{}, nil, 0, 0
		c.Task, c.TaskHandle = nil, ""
	}
	return calls
}
