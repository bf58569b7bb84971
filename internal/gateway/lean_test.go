package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"regexp"
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
	"patchbay/internal/toolcall"
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

func TestFindTools_SearchesOneConnector(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t, lean)
	up := newUpstream(t, sdk.StreamableHTTPOptions{}).withHintedTools()
	for slug, name := range map[string]string{"one": "First notes", "two": "Second\u202enotes", "three": "Twins", "four": "twins"} {
		c := b.newConnector(t, slug, up.url, func(d *connectors.Draft) { d.Name = name })
		b.Grant(t, agent.ID, c.ID)
	}
	other := b.newConnector(t, "secret", up.url) // not granted
	token := b.Token(t, agent.ID)
	for _, e := range eras {
		s := connect(t, b.url+"/mcp", token, e)
		for connector, slug := range map[string]string{
			"one": "one", " mcp_two__ ": "two", "mcp_two": "two", "first NOTES": "one", `Second\u202enotes`: "two", "Second\u202enotes": "two", "Twins": "three",
		} {
			found := readLeanAnswer(t, call(t, s, "find_tools", map[string]any{"words": "read a note", "connector": connector}))
			prefix := "mcp_" + slug + "__"
			if all := slices.Concat(found.tools, found.more); len(all) != 3 || all[0] != prefix+"read_note" ||
				slices.ContainsFunc(all, func(name string) bool { return !strings.HasPrefix(name, prefix) }) {
				t.Errorf("%s: in %q it finds %v", e, connector, all)
			}
		}
		for _, connector := range []string{"none", "TWINS", other.Slug, other.Name, strings.Repeat("x", 1000)} {
			refused := call(t, s, "find_tools", map[string]any{"words": "read a note", "connector": connector})
			if text := textOf(refused); !refused.IsError || !strings.HasSuffix(text, "Connectors: four, one, three, two.") || len(text) > 300 {
				t.Errorf("%s: in %q it answers %q", e, connector, text)
			}
		}
		if found := readLeanAnswer(t, call(t, s, "find_tools", map[string]any{"words": "read a note", "connector": nil})); len(found.tools) != 3 {
			t.Errorf("%s: without a connector it finds %+v", e, found)
		}
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
		`"name":"find_tools","arguments":{"q":"note"}`, `"name":"find_tools","arguments":{"words":"note","connector":7}`,
		`"name":"describe_tools","arguments":{"names":[]}`, `"name":"describe_tools","arguments":{"names":"a"}`,
		`"name":"call_reading","arguments":{}`,
		`"name":"call_reading","arguments":{"name":"mcp_one__read_note","arguments":"{}"}`, `"name":"call_reading","arguments":{"name":"mcp_one__read_note","text":"hi"}`,
		`"name":"call_reading","arguments":{"name":"mcp_one__read_note","name":"mcp_one__read_note"}`, `"name":"call_reading","arguments":{"name":"mcp_one__read_note","arguments":{"text":7}}`,
	} {
		got := post(t, at, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+params+`,`+modernMeta+`}}`, "Authorization", token)
		if got.rpc(t).Error != nil || !strings.Contains(got.body, `"code":"invalid_arguments"`) || !strings.Contains(got.body, `"isError":true`) {
			t.Errorf("%s: %s", params, got.body)
		}
	}
	for _, unknown := range []string{"mcp_one__none", "call_reading"} {
		if e := callRaw(t, at, token, "call_reading", `{"name":"`+unknown+`"}`).rpc(t).Error; e == nil || e.Code != -32602 {
			t.Errorf("the unknown tool %s: %+v", unknown, e)
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

// twin is one of two tenants with the same connectors, quotas and grants.
type twin struct {
	*testEnv
	one, two, three connectors.Connector
	agent           connectors.Agent
	call            func(params string) string
}

// newTwin makes a tenant with three connectors. Some tools have an alias, are disabled, are held or new, or have a quota.
func newTwin(t *testing.T) *twin {
	t.Helper()
	b := newTestEnv(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{}).withHintedTools()
	w := &twin{testEnv: b, one: b.newConnector(t, "one", up.url), two: b.newConnector(t, "two", up.url)}
	b.curated(t, w.two, store.CuratedTool{Name: "drop_note"}, // disabled
		store.CuratedTool{Name: "add_note", Curation: connectors.Curation{Enabled: true, Alias: "jot"}})
	b.curated(t, w.one, store.CuratedTool{Name: "read_note", Curation: connectors.Curation{Enabled: true, Quota: connectors.Quota{PerDay: 3}}})
	changing := newUpstream(t, sdk.StreamableHTTPOptions{}).withHintedTools()
	w.three = b.newConnector(t, "three", changing.url, func(d *connectors.Draft) { d.ToolChanges = connectors.ToolChangesHoldAll })
	changing.withEchoTools("read_note", "jot") // without hints; new
	b.syncConnector(t, w.three)
	return w
}

// addAgent makes a new agent that calls in an era.
func (w *twin) addAgent(t *testing.T, e era, opts ...func(*connectors.Agent)) {
	t.Helper()
	w.agent = w.Agent(t, opts...)
	token := w.Token(t, w.agent.ID)
	call := func(params string) string { return w.callWithTasks(t, token, params) }
	if e == legacy {
		session := connect(t, w.url+"/mcp", token, e)
		call = func(params string) string {
			defer w.decideCalls(t)()
			return callBySession(t, session, params)
		}
	}
	pages := strings.NewReplacer(w.url, "", w.agent.ID.String(), "AGENT") // a refusal names the page to ask for access
	w.call = func(params string) string { return pages.Replace(repeatCall(t, func() string { return call(params) })) }
}

// deniedReason is the reason of calls that decideCalls denies.
const deniedReason = "better not"

// decideCalls decides the agent's calls that wait for approval, until end is called. It denies those that may write.
func (w *twin) decideCalls(t *testing.T) (end func()) {
	t.Helper()
	person, agent := w.person(t), w.agent.ID
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for ; ctx.Err() == nil; <-tick.C {
			inbox, err := w.caller.ListPendingApprovals(ctx, person, store.Page{Limit: store.MaxLimit})
			if err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			for _, waiting := range inbox.Items {
				if waiting.AgentID != agent {
					continue
				}
				d := toolcall.Decision{Approve: waiting.Tool == "read_note", Reason: deniedReason}
				if _, err := w.caller.Decide(context.WithoutCancel(ctx), person, waiting.ID, d); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	return func() { cancel(); <-done }
}

// repeatCall makes a call until the process has a share of the quota, which it gets within a second.
func repeatCall(t *testing.T, call func() string) string {
	t.Helper()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); ; {
		if answer := call(); !strings.Contains(answer, `"rate_limited"`) {
			return answer
		}
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("not within %s: a share of the quota", patience)
		}
	}
}

// TestLean_PermitsWhatFullPermits makes the same calls as two agents with the same random grants, approval mode and quotas, in both
// eras. One has a full list and calls by name. The other has a lean list and calls through the tool that fits, or by name. Both
// get the same answers and leave the same records. A client of 2026-07-28 gets a task for a call that waits for approval; one of
// 2025-11-25 gets the answer after the decision.
func TestLean_PermitsWhatFullPermits(t *testing.T) {
	t.Parallel()
	full, thin := newTwin(t), newTwin(t)
	random := rand.New(rand.NewPCG(7, 26))
	compared, overQuota, denied, held := 0, 0, 0, 0
	for round := range 14 {
		mode := pick(random, connectors.ApprovalAuto, connectors.ApprovalAuto, connectors.ApprovalTrustedOnly, connectors.ApprovalAlwaysAsk)
		list := pick(random, connectors.ToolListLean, connectors.ToolListAuto)
		e := eras[round%len(eras)]
		named := func(a *connectors.Agent) { a.Name, a.Approval = "Twin", mode }
		full.addAgent(t, e, named)
		thin.addAgent(t, e, named, func(a *connectors.Agent) { a.ToolList = list })
		for _, of := range []func(*twin) connectors.ConnectorID{
			func(w *twin) connectors.ConnectorID { return w.one.ID }, func(w *twin) connectors.ConnectorID { return w.two.ID },
			func(w *twin) connectors.ConnectorID { return w.three.ID },
		} {
			if random.IntN(4) == 0 {
				continue
			}
			grant := randomGrant(random)
			full.Grant(t, full.agent.ID, of(full), grant)
			thin.Grant(t, thin.agent.ID, of(thin), grant)
		}
		view, err := thin.access.LoadUncached(t.Context(), thin.Tenant, connectors.Ref(thin.agent.ID.String()))
		if err != nil {
			t.Fatal(err)
		}
		known := "" // a tool with recorded calls
		for range 12 {
			direct, through, tool := randomCall(random, view)
			if tool != "" {
				known = tool
			}
			want, got := full.call(direct), thin.call(through)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s, %s, %s: %s", e, mode, through, diff)
			}
			if strings.Contains(want, "quota_exceeded") {
				overQuota++
			}
			if strings.Contains(want, deniedReason) {
				denied++
			}
			if strings.Contains(want, `"code":"held"`) {
				held++
			}
		}
		if known == "" {
			continue
		}
		last := fmt.Sprintf(`"name":%q,"arguments":%s`, known, lastArguments)
		full.call(last)
		thin.call(last)
		wantCalls, gotCalls := full.recordedCalls(t, full.agent.ID), thin.recordedCalls(t, thin.agent.ID)
		compared += len(wantCalls)
		if diff := cmp.Diff(wantCalls, gotCalls, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
			t.Fatalf("%s, %s: %s", e, mode, diff)
		}
	}
	if compared < 40 || overQuota == 0 || denied == 0 || held == 0 {
		t.Errorf("only %d records were compared, %d calls were over a quota, %d denied, %d held", compared, overQuota, denied, held)
	}
}

// randomCall returns a call by name, and the same through the tool of a lean list that fits, or again by name. tool is the name of
// a tool of the view; empty: the view has none of that name.
func randomCall(random *rand.Rand, view *agentview.View) (direct, through, tool string) {
	name := pick(random, "mcp_one__", "mcp_two__", "mcp_three__", "mcp_none__") + pick(random, "read_note", "add_note", "drop_note", "jot", "none")
	arguments := pick(random, `{"text":"hi"}`, `{"text":"hi"}`, `{"text":7}`, `{}`)
	direct = fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments)
	through = direct
	found := view.Tool(name)
	if random.IntN(4) > 0 {
		caller := agentview.CallReading // of no importance for a tool that is not listed
		if found != nil && found.Listed() {
			caller = found.CallWith()
		}
		through = fmt.Sprintf(`"name":%q,"arguments":{%s}`, caller, direct)
	}
	if found != nil {
		tool = name
	}
	return direct, through, tool
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
	return stableJSON(t, []byte(got.body))
}

// callBySession calls a tool in a session. It returns the answer without what differs in every call.
func callBySession(t *testing.T, s *sdk.ClientSession, params string) string {
	t.Helper()
	var sent struct {
		Name      string
		Arguments json.RawMessage
	}
	if err := json.Unmarshal([]byte("{"+params+"}"), &sent); err != nil {
		t.Fatal(err)
	}
	result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: sent.Name, Arguments: sent.Arguments})
	if err != nil {
		return err.Error()
	}
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return stableJSON(t, raw)
}

// untilReset is the time that is left of a quota's day, serverPort the port of a test's server.
var (
	untilReset = regexp.MustCompile(` UTC, in [^.]*\.`)
	serverPort = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

func stableJSON(t *testing.T, raw []byte) string {
	t.Helper()
	var answer map[string]any
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	removeVolatile(answer)
	plain, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return serverPort.ReplaceAllString(untilReset.ReplaceAllString(string(plain), " UTC."), "host")
}

// removeVolatile removes ids and times.
func removeVolatile(value any) {
	object, _ := value.(map[string]any)
	for name, member := range object {
		switch name {
		case "taskId", "createdAt", "lastUpdatedAt", "ttlMs", "call_id", "retry_after_s":
			delete(object, name)
		default:
			removeVolatile(member)
		}
	}
}

// recordedCalls returns the calls of an agent that found a share of their quota, without ids and times, once the one with lastArguments is recorded.
func (b *testEnv) recordedCalls(t *testing.T, agent connectors.AgentID) []connectors.ToolCall {
	t.Helper()
	var calls []connectors.ToolCall
	eventually(t, "the calls are recorded", func() bool {
		list, err := b.Door().Calls().List(t.Context(), store.CallFilter{Agent: &agent, Page: store.Page{Limit: store.MaxLimit}})
		if err != nil {
			t.Fatal(err)
		}
		calls = slices.DeleteFunc(list.Items, func(c connectors.ToolCall) bool { return c.ErrorCode == "rate_limited" }) // made again
		isRunning := func(c connectors.ToolCall) bool { return c.Status == connectors.CallRunning }
		return len(calls) > 0 && calls[0].RequestBytes == int64(len(lastArguments)) && !slices.ContainsFunc(calls, isRunning)
	})
	for i := range calls {
		c := &calls[i]
		c.ID, c.AgentID, c.AgentSlug, c.TokenID, c.TokenName, c.CredentialID, c.InstanceID, c.ConnectorID = connectors.ToolCallID{}, nil, "", nil, "", nil, nil, nil
		c.CallOrigin, c.StartedAt, c.CompletedAt, c.Duration, c.Waited = connectors.CallOrigin{}, time.Time{}, nil, 0, 0
		c.Task, c.TaskHandle, c.ErrorMessage = nil, "", serverPort.ReplaceAllString(c.ErrorMessage, "host")
	}
	return calls
}
