package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// longAnswer is what the tool list of withList answers.
func longAnswer() string {
	rows := make([]string, 1204)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":%d,"title":"Issue %d","body_html":"<p>Some words é</p>"}`, i, i)
	}
	return `{"items":[` + strings.Join(rows, ",") + `]}`
}

// withList adds a tool with a long answer and an output schema.
func (u *upstream) withList(name string) *upstream {
	u.AddTool(&sdk.Tool{
		Name: name, Description: "Lists issues.", InputSchema: json.RawMessage(`{"type":"object"}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"items":{"type":"array","minItems":1204}},"required":["items"],"additionalProperties":false}`),
	}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		text := longAnswer()
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, StructuredContent: json.RawMessage(text)}, nil
	})
	return u
}

func (b *testEnv) shape(t *testing.T, a connectors.Agent, c connectors.Connector, tool string, s connectors.Shaping) {
	t.Helper()
	if err := b.St.Tenant(b.Tenant).Agents().SetShaping(t.Context(), a.ID, c.ID, tool, s); err != nil {
		t.Fatal(err)
	}
}

var answerID = regexp.MustCompile(`read_result, id "([0-9a-f-]{36})"`)

// readAnswer reads a part of an answer page by page.
func readAnswer(t *testing.T, s *sdk.ClientSession, id, part string) string {
	t.Helper()
	next := regexp.MustCompile(`Go on with offset (\d+)\.`)
	var all strings.Builder
	for offset := 0; ; {
		r := call(t, s, "read_result", map[string]any{"id": id, "part": part, "offset": offset, "limit": 30000})
		if r.IsError || len(r.Content) != 2 {
			t.Fatalf("%+v", textOf(r))
		}
		all.WriteString(r.Content[0].(*sdk.TextContent).Text)
		found := next.FindStringSubmatch(r.Content[1].(*sdk.TextContent).Text)
		if found == nil {
			return all.String()
		}
		_, _ = fmt.Sscan(found[1], &offset)
	}
}

func TestShapedAnswerIsReadBackWhole(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, other := b.newAutoAgent(t), b.newAutoAgent(t)
	c := b.newConnector(t, "peer", newUpstream(t, sdk.StreamableHTTPOptions{}).withList("list").url)
	b.Grant(t, agent.ID, c.ID)
	b.Grant(t, other.ID, c.ID)
	token, otherToken := b.Token(t, agent.ID), b.Token(t, other.ID)
	whole := connect(t, b.url+"/mcp", token, modern)
	if names := toolNames(t, whole); names != "mcp_peer__list" {
		t.Fatalf("without a rule it lists %q", names)
	}
	if got := call(t, whole, "mcp_peer__list", nil); len(got.Content) != 1 || textOf(got) != longAnswer() {
		t.Fatalf("without a rule it says %.100s", textOf(got))
	}
	b.shape(t, agent, c, "list", connectors.Shaping{Fields: ".items |= map(del(.body_html))", Budget: 1000})
	b.shape(t, other, c, "list", connectors.Shaping{Budget: 1000})
	for _, e := range eras {
		session := connect(t, b.url+"/mcp", token, e)
		list, err := session.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != 2 || list.Tools[0].OutputSchema != nil || !strings.Contains(list.Tools[0].Description, "Lists issues.\n\nAnswers are shortened: ") ||
			list.Tools[1].Name != "read_result" || !list.Tools[1].Annotations.ReadOnlyHint {
			t.Fatalf("%s: %v, %+v", e, err, list)
		}
		short := call(t, session, "mcp_peer__list", nil)
		var head struct{ Items []map[string]any }
		if err := json.Unmarshal([]byte(short.Content[0].(*sdk.TextContent).Text), &head); err != nil || len(head.Items) < 20 || len(head.Items[0]) != 2 {
			t.Fatalf("%s: %v, %.200s", e, err, textOf(short))
		}
		said := short.Content[1].(*sdk.TextContent).Text
		if want := fmt.Sprintf("Shortened: %d of 1,204 rows in items; 1 field left out. Read the rest with read_result, id ", len(head.Items)); !strings.HasPrefix(said, want) {
			t.Errorf("%s: it says %q, want %q", e, said, want)
		}
		id := answerID.FindStringSubmatch(said)[1]
		if got := readAnswer(t, session, id, "0"); got != longAnswer() {
			t.Errorf("%s: the reads are not the text: %.100s", e, got)
		}
		if got := textOf(call(t, session, "read_result", map[string]any{"id": id, "jq": ".items[1203].id"})); !strings.HasPrefix(got, "1203Bytes 0–4 of 4.") {
			t.Errorf("%s: jq returns %q", e, got)
		}
		read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: short.Content[2].(*sdk.ResourceLink).URI})
		if err != nil || read.Contents[0].Text != readAnswer(t, session, id, "result") || !strings.Contains(read.Contents[0].Text, `"structuredContent":`) {
			t.Errorf("%s: the resource is not the answer: %v", e, err)
		}
		stranger := connect(t, b.url+"/mcp", otherToken, e)
		if r := call(t, stranger, "read_result", map[string]any{"id": id}); !r.IsError || !strings.Contains(textOf(r), "no answer with this id") {
			t.Errorf("%s: another agent reads %.100s", e, textOf(r))
		}
		if r := call(t, session, "read_result", map[string]any{"id": id, "grep": "("}); !r.IsError || !strings.Contains(textOf(r), "RE2") {
			t.Errorf("%s: a wrong pattern returns %.100s", e, textOf(r))
		}
	}
}

// A client before 2025-06-18 knows no resource links.
func TestShapedAnswerHasNoLinkForOldClients(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	c := b.newConnector(t, "peer", newUpstream(t, sdk.StreamableHTTPOptions{}).withList("list").url)
	b.Grant(t, agent.ID, c.ID)
	b.shape(t, agent, c, "list", connectors.Shaping{Budget: 1000})
	token := b.Token(t, agent.ID)
	for e, want := range map[era]int{"2025-03-26": 2, "2025-06-18": 3} {
		if r := call(t, connect(t, b.url+"/mcp", token, e), "mcp_peer__list", nil); len(r.Content) != want {
			t.Errorf("%s: %d blocks, want %d", e, len(r.Content), want)
		}
	}
}

func TestShapedAnswerNeedsItsGrant(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	c := b.newConnector(t, "peer", newUpstream(t, sdk.StreamableHTTPOptions{}).withList("list").withList("read_result").url)
	b.Grant(t, agent.ID, c.ID)
	b.shape(t, agent, c, "list", connectors.Shaping{Budget: 1000})
	b.shape(t, agent, c, "read_result", connectors.Shaping{Budget: 1000})
	token := b.Token(t, agent.ID)
	one := connect(t, b.url+"/mcp/peer", token, legacy)
	if names := toolNames(t, one); names != "list read_result patchbay_read_result" {
		t.Fatalf("it lists %q", names)
	}
	id := answerID.FindStringSubmatch(textOf(call(t, one, "list", nil)))[1]
	read := map[string]any{"id": id}
	if r := call(t, one, "patchbay_read_result", read); r.IsError {
		t.Fatalf("it refuses: %s", textOf(r))
	}
	b.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.AllTools, g.Tools = false, []string{"read_result"} })
	if r := call(t, one, "patchbay_read_result", read); !r.IsError || !strings.Contains(textOf(r), `no access to the tool "list"`) {
		t.Errorf("without the tool it returns %.200s", textOf(r))
	}
	if _, err := one.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "patchbay://results/" + id}); err == nil {
		t.Error("without the tool the resource is read")
	}
}

// An answer that was shortened is read after the last rule is gone, though the tool for it is listed no more.
func TestShapedAnswerIsReadAfterItsRule(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	c := b.newConnector(t, "peer", newUpstream(t, sdk.StreamableHTTPOptions{}).withList("list").withList("read_result").url)
	b.Grant(t, agent.ID, c.ID)
	token := b.Token(t, agent.ID)
	for address, names := range map[string][2]string{"/mcp": {"mcp_peer__list", "read_result"}, "/mcp/peer": {"list", "patchbay_read_result"}} {
		for _, e := range eras {
			b.shape(t, agent, c, "list", connectors.Shaping{Budget: 1000})
			s := connect(t, b.url+address, token, e)
			id := answerID.FindStringSubmatch(textOf(call(t, s, names[0], nil)))[1]
			b.shape(t, agent, c, "list", connectors.Shaping{})
			if list := toolNames(t, s); strings.HasSuffix(list, " "+names[1]) {
				t.Errorf("%s, %s: it lists %q", address, e, list)
			}
			if r := call(t, s, names[1], map[string]any{"id": id, "part": "0", "limit": 10}); r.IsError || !strings.HasPrefix(textOf(r), longAnswer()[:10]) {
				t.Errorf("%s, %s: it says %.200s", address, e, textOf(r))
			}
			if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "patchbay://results/" + id}); err != nil {
				t.Errorf("%s, %s: the resource: %v", address, e, err)
			}
		}
	}
}

// At a connector's own address, answers of the others are not read.
func TestShapedAnswerIsReadAtItsConnector(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{}).withList("list")
	for _, slug := range []string{"peer", "second"} {
		c := b.newConnector(t, slug, up.url)
		b.Grant(t, agent.ID, c.ID)
		b.shape(t, agent, c, "list", connectors.Shaping{Budget: 1000})
	}
	token := b.Token(t, agent.ID)
	id := answerID.FindStringSubmatch(textOf(call(t, connect(t, b.url+"/mcp", token, modern), "mcp_peer__list", nil)))[1]
	for address, isRead := range map[string]bool{"/mcp": true, "/mcp/peer": true, "/mcp/second": false} {
		s := connect(t, b.url+address, token, modern)
		if r := call(t, s, "read_result", map[string]any{"id": id}); r.IsError == isRead {
			t.Errorf("%s: %.200s", address, textOf(r))
		}
		if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "patchbay://results/" + id}); (err == nil) != isRead {
			t.Errorf("%s: the resource: %v", address, err)
		}
	}
}

// A model writes integers as JSON Schema allows, and takes the link of an answer for its id.
func TestReadResult_TakesIntegersAndLinks(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	c := b.newConnector(t, "peer", newUpstream(t, sdk.StreamableHTTPOptions{}).withList("list").url)
	b.Grant(t, agent.ID, c.ID)
	b.shape(t, agent, c, "list", connectors.Shaping{Budget: 1000})
	session := connect(t, b.url+"/mcp", b.Token(t, agent.ID), modern)
	id := answerID.FindStringSubmatch(textOf(call(t, session, "mcp_peer__list", nil)))[1]
	for arguments, isRead := range map[string]bool{
		`{"id":"` + id + `","part":"0","limit":10}`:                       true,
		`{"id":"` + id + `","part":"0","limit":10.0,"offset":0.0}`:        true,
		`{"id":"` + id + `","part":"0","limit":1e1}`:                      true,
		`{"id":"patchbay://results/` + id + `","part":"0","limit":10}`:    true,
		`{"id":"` + id + `","limit":10.5}`:                                false,
		`{"id":"` + id + `","limit":"10"}`:                                false,
		`{"id":"` + id + `","limit":1e300}`:                               false,
		`{"id":"https://example.com/results/` + id + `"}`:                 false,
		`{"id":"patchbay://results/patchbay://results/` + id + `","x":1}`: false,
	} {
		r := call(t, session, "read_result", json.RawMessage(arguments))
		if r.IsError == isRead || isRead && !strings.HasPrefix(textOf(r), longAnswer()[:10]+"Bytes 0–10 of ") {
			t.Errorf("%s: %.200s", arguments, textOf(r))
		}
	}
}

func TestShapingNeedsTheHistory(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	c := b.newConnector(t, "peer", newUpstream(t, sdk.StreamableHTTPOptions{}).withList("list").url)
	b.Grant(t, agent.ID, c.ID)
	b.shape(t, agent, c, "list", connectors.Shaping{Budget: 1000})
	b.AsSystem(t, "update tenants set call_history = 'none' where id = $1", []any{b.Tenant.UUID})
	session := connect(t, b.url+"/mcp", b.Token(t, agent.ID), modern)
	if got := call(t, session, "mcp_peer__list", nil); textOf(got) != longAnswer() || toolNames(t, session) != "mcp_peer__list" {
		t.Errorf("without a history it says %.200s", textOf(got))
	}
	if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_result"}); err == nil || !strings.Contains(err.Error(), `No tool named "read_result"`) {
		t.Errorf("the reader: %v", err)
	}
}

func TestLeanList_ShortensAndReadsAnswers(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t, lean)
	c := b.newConnector(t, "peer", newUpstream(t, sdk.StreamableHTTPOptions{}).withList("list").url)
	b.Grant(t, agent.ID, c.ID)
	b.shape(t, agent, c, "list", connectors.Shaping{Budget: 1000})
	tool, err := b.access.LoadUncached(t.Context(), b.Tenant, connectors.Ref(agent.ID.String()))
	if err != nil {
		t.Fatal(err)
	}
	caller := tool.Tool("mcp_peer__list").CallWith()
	for _, e := range eras {
		s := connect(t, b.url+"/mcp", b.Token(t, agent.ID), e)
		if names := toolNames(t, s); names != leanNames+" read_result" {
			t.Fatalf("%s: it lists %q", e, names)
		}
		found := textOf(call(t, s, "find_tools", map[string]any{"words": "list the issues"}))
		if !strings.Contains(found, "Answers are shortened: ") {
			t.Errorf("%s: found %.300s", e, found)
		}
		short := call(t, s, caller, map[string]any{"name": "mcp_peer__list"})
		id := answerID.FindStringSubmatch(short.Content[1].(*sdk.TextContent).Text)[1]
		if got := readAnswer(t, s, id, "0"); got != longAnswer() {
			t.Errorf("%s: the reads are not the text: %.100s", e, got)
		}
	}
}

// A resource is read at once, and an answer above the bound is for the tool that reads it in pages.
func TestShapedAnswerAboveTheBoundIsNoResource(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	u := newUpstream(t, sdk.StreamableHTTPOptions{})
	u.AddTool(&sdk.Tool{Name: "dump", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("some words\n", 100_000)}}}, nil
	})
	c := b.newConnector(t, "peer", u.url)
	b.Grant(t, agent.ID, c.ID)
	b.shape(t, agent, c, "dump", connectors.Shaping{Budget: 1000})
	session := connect(t, b.url+"/mcp", b.Token(t, agent.ID), modern)
	short := call(t, session, "mcp_peer__dump", nil)
	id := answerID.FindStringSubmatch(textOf(short))[1]
	var kept int
	if b.AsSystem(t, "select count(*) from gateway_mail where box = 'result-' || $1 and id::text = $1", []any{id}, &kept); kept != 1 {
		t.Errorf("%d answers are kept under the id of the call", kept)
	}
	_, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "patchbay://results/" + id})
	if want := "The answer is longer than 1 MB. Read it with read_result, id \"" + id; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the resource: %v, want %q", err, want)
	}
	eventually(t, "the refused read is recorded", func() bool {
		list, err := b.Door().Calls().List(t.Context(), store.CallFilter{Agent: &agent.ID, Page: store.Page{Limit: store.MaxLimit}})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(list.Items, func(c connectors.ToolCall) bool {
			return c.Kind == connectors.CallResource && c.Status == connectors.CallError && c.ErrorCode == "invalid_read" && c.ResponseBytes == 0
		})
	})
	if r := call(t, session, "read_result", map[string]any{"id": id, "line": 100_000, "limit": 100}); r.IsError || !strings.HasPrefix(textOf(r), "some words\n") {
		t.Errorf("the tool: %.200s", textOf(r))
	}
}

// The names of a server's tools and resources are not the gateway's.
func TestShapedAnswerIsReadBesideTheServersNames(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	u := newUpstream(t, sdk.StreamableHTTPOptions{}).withList("list").withList("read_result").withList("patchbay_read_result")
	own := "patchbay://results/own"
	u.AddResource(&sdk.Resource{URI: own, Name: "own"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		t.Error("the server is asked for an answer")
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: own, Text: "own"}}}, nil
	})
	c := b.newConnector(t, "peer", u.url)
	b.Grant(t, agent.ID, c.ID)
	b.shape(t, agent, c, "list", connectors.Shaping{Budget: 1000})
	session := connect(t, b.url+"/mcp/peer", b.Token(t, agent.ID), modern)
	id := answerID.FindStringSubmatch(textOf(call(t, session, "list", nil)))[1]
	if r := call(t, session, "patchbay_patchbay_read_result", map[string]any{"id": id, "part": "0", "limit": 10}); r.IsError || !strings.HasPrefix(textOf(r), longAnswer()[:10]) {
		t.Errorf("the reader: %.200s", textOf(r))
	}
	for _, at := range []string{"/mcp", "/mcp/peer"} {
		if _, err := connect(t, b.url+at, b.Token(t, agent.ID), modern).ReadResource(t.Context(), &sdk.ReadResourceParams{URI: own}); err == nil {
			t.Errorf("%s: it is read", at)
		}
	}
}

// A kept answer ends with the grant of its connector, with its agent's use, and with the tenant's history.
func TestShapedAnswerEndsWithItsGrant(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testEnv, connectors.Agent, connectors.Connector) error{
		"the grant is dropped": func(b *testEnv, a connectors.Agent, c connectors.Connector) error {
			return b.Door().Agents().DropGrant(t.Context(), a.ID, c.ID)
		},
		"the agent is disabled": func(b *testEnv, a connectors.Agent, _ connectors.Connector) error {
			a.Enabled = false
			if _, err := b.Door().Agents().Update(t.Context(), a); err != nil {
				return err
			}
			a.Enabled = true
			_, err := b.Door().Agents().Update(t.Context(), a)
			return err
		},
		"the history keeps nothing": func(b *testEnv, _ connectors.Agent, _ connectors.Connector) error {
			if err := b.Door().SetCallSettings(t.Context(), connectors.HistoryNone, connectors.ReadersEveryone, time.Minute); err != nil {
				return err
			}
			return b.Door().SetCallSettings(t.Context(), connectors.HistoryFull, connectors.ReadersEveryone, time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			agent, other := b.newAutoAgent(t), b.newAutoAgent(t)
			up := newUpstream(t, sdk.StreamableHTTPOptions{}).withList("list")
			c, second := b.newConnector(t, "peer", up.url), b.newConnector(t, "second", up.url)
			ids := map[string]string{}
			for _, a := range []connectors.Agent{agent, other} {
				for _, of := range []connectors.Connector{c, second} {
					b.Grant(t, a.ID, of.ID)
					b.shape(t, a, of, "list", connectors.Shaping{Budget: 1000})
					said := textOf(call(t, connect(t, b.url+"/mcp", b.Token(t, a.ID), modern), "mcp_"+of.Slug+"__list", nil))
					ids[a.Slug+" "+of.Slug] = answerID.FindStringSubmatch(said)[1]
				}
			}
			if err := end(b, agent, c); err != nil {
				t.Fatal(err)
			}
			b.Grant(t, agent.ID, c.ID)
			b.shape(t, agent, c, "list", connectors.Shaping{Budget: 1000})
			session := connect(t, b.url+"/mcp", b.Token(t, agent.ID), modern)
			if r := call(t, session, "read_result", map[string]any{"id": ids[agent.Slug+" peer"]}); !r.IsError || !strings.Contains(textOf(r), "no answer with this id") {
				t.Errorf("the old answer: %.200s", textOf(r))
			}
			if name != "the grant is dropped" {
				return
			}
			if r := call(t, session, "read_result", map[string]any{"id": ids[agent.Slug+" second"]}); r.IsError {
				t.Errorf("of another connector: %.200s", textOf(r))
			}
			if r := call(t, connect(t, b.url+"/mcp", b.Token(t, other.ID), modern), "read_result", map[string]any{"id": ids[other.Slug+" peer"]}); r.IsError {
				t.Errorf("of another agent: %.200s", textOf(r))
			}
		})
	}
}

func TestShapedAnswersOfATenantAreBounded(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t, func(o *toolcall.Options) { o.AnswerBytes = 1 })
	c := b.newConnector(t, "peer", newUpstream(t, sdk.StreamableHTTPOptions{}).withList("list").url)
	for i, want := range []bool{true, false} {
		agent := b.newAutoAgent(t)
		b.Grant(t, agent.ID, c.ID)
		b.shape(t, agent, c, "list", connectors.Shaping{Budget: 1000})
		r := call(t, connect(t, b.url+"/mcp", b.Token(t, agent.ID), modern), "mcp_peer__list", nil)
		if isShort := len(textOf(r)) < len(longAnswer()); isShort != want {
			t.Errorf("answer %d is %.100s", i, textOf(r))
		}
	}
}

func TestReadResult_IsInTheHistory(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	c := b.newConnector(t, "peer", newUpstream(t, sdk.StreamableHTTPOptions{}).withList("list").url)
	b.Grant(t, agent.ID, c.ID)
	b.shape(t, agent, c, "list", connectors.Shaping{Budget: 1000})
	session := connect(t, b.url+"/mcp", b.Token(t, agent.ID), modern)
	id := answerID.FindStringSubmatch(textOf(call(t, session, "mcp_peer__list", nil)))[1]
	call(t, session, "read_result", map[string]any{"id": id, "limit": 10})
	call(t, session, "read_result", map[string]any{"id": id, "grep": "("})
	if _, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "patchbay://results/" + id}); err != nil {
		t.Fatal(err)
	}
	var reads []connectors.ToolCall
	eventually(t, "three reads are recorded", func() bool {
		list, err := b.Door().Calls().List(t.Context(), store.CallFilter{Agent: &agent.ID, Page: store.Page{Limit: store.MaxLimit}})
		if err != nil {
			t.Fatal(err)
		}
		reads = slices.DeleteFunc(list.Items, func(c connectors.ToolCall) bool { return c.Kind != connectors.CallResource })
		return len(reads) == 3
	})
	statuses := map[connectors.CallStatus]int{}
	for _, r := range reads {
		whole, err := b.Door().Calls().Get(t.Context(), r.ID)
		if err != nil || whole.Content != nil || whole.Structured != nil || !strings.Contains(string(whole.Arguments), id) {
			t.Errorf("%v: it keeps %s for %s", err, whole.Content, whole.Arguments)
		}
		if r.Tool != "patchbay://results/{id}" || r.ConnectorSlug != "peer" || r.TokenID == nil || r.Status == connectors.CallSuccess && r.ResponseBytes == 0 {
			t.Errorf("%+v", r)
		}
		statuses[r.Status]++
	}
	if statuses[connectors.CallSuccess] != 2 {
		t.Errorf("the reads ended as %v", statuses)
	}
}

func TestReadResult_CountsAsACallOfTheAgent(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t, func(a *connectors.Agent) { a.CallsPerMinute = 2 })
	c := b.newConnector(t, "peer", newUpstream(t, sdk.StreamableHTTPOptions{}).withList("list").url)
	b.Grant(t, agent.ID, c.ID)
	b.shape(t, agent, c, "list", connectors.Shaping{Budget: 1000})
	session := connect(t, b.url+"/mcp", b.Token(t, agent.ID), modern)
	id := answerID.FindStringSubmatch(textOf(call(t, session, "mcp_peer__list", nil)))[1]
	refused := 0
	for range 3 { // a call is added every 30 seconds
		if r := call(t, session, "read_result", map[string]any{"id": id, "limit": 10}); r.IsError && reasonIn(t, r)["code"] == "rate_limited" {
			refused++
		}
	}
	if _, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "patchbay://results/" + id}); refused == 0 || err == nil || !strings.Contains(err.Error(), "calls per minute") {
		t.Errorf("%d reads are refused, the resource: %v", refused, err)
	}
}
