package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
)

// withLongTools adds tools with definitions of about this many KiB.
func (u *upstream) withLongTools(sizes map[string]int) *upstream {
	for name, size := range sizes {
		u.AddTool(&sdk.Tool{Name: name, Description: "Letters.", InputSchema: json.RawMessage(
			`{"type":"object","properties":{"text":{"type":"string","description":"` + strings.Repeat("a ", size<<9) + `"}}}`)}, echoHandler(name))
	}
	return u
}

// leanFound is an answer of find_tools or describe_tools, by names.
type leanFound struct {
	tools, more, unknown []string
	note                 string
}

func readLeanAnswer(t *testing.T, r *sdk.CallToolResult) leanFound {
	t.Helper()
	var answer struct {
		Tools []struct{ Definition struct{ Name string } }
		More  []struct {
			Name     string
			CallWith string `json:"call_with"`
		}
		Unknown []string
		Note    string
	}
	if err := json.Unmarshal([]byte(textOf(r)), &answer); err != nil || r.IsError || len(textOf(r)) > 300<<10 && len(answer.Tools) > 1 {
		t.Fatalf("%d bytes: %.300s, %v", len(textOf(r)), textOf(r), err)
	}
	found := leanFound{unknown: answer.Unknown, note: answer.Note}
	for _, d := range answer.Tools {
		found.tools = append(found.tools, d.Definition.Name)
	}
	for _, m := range answer.More {
		if m.CallWith == "" {
			t.Errorf("%s has no call_with", m.Name)
		}
		found.more = append(found.more, m.Name)
	}
	return found
}

func TestLeanTools_BoundDefinitions(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t, lean)
	c := b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withLongTools(map[string]int{"a": 100, "b": 100, "c": 100, "d": 300}).url)
	b.Grant(t, agent.ID, c.ID)
	const a, bb, cc, d = "mcp_one__a", "mcp_one__b", "mcp_one__c", "mcp_one__d"
	for _, e := range eras {
		s := connect(t, b.url+"/mcp", b.Token(t, agent.ID), e)
		describe := func(names ...string) leanFound {
			return readLeanAnswer(t, call(t, s, "describe_tools", map[string]any{"names": names}))
		}
		if got := describe(a, a, "x", bb, a, "x", cc); fmt.Sprint(got.tools, got.more, got.unknown) != "[mcp_one__a mcp_one__b] [mcp_one__c] [x]" || !strings.Contains(got.note, "alone") {
			t.Errorf("%s: described %+v", e, got)
		}
		if got := describe(a, d); !slices.Equal(got.tools, []string{a}) || !slices.Equal(got.more, []string{d}) {
			t.Errorf("%s: with a long one, described %+v", e, got)
		}
		if got := describe(d); !slices.Equal(got.tools, []string{d}) || len(got.more) != 0 || got.note != "" {
			t.Errorf("%s: the long one alone is described as %+v", e, got)
		}
		got := readLeanAnswer(t, call(t, s, "find_tools", map[string]any{"words": "letters"}))
		if len(got.tools) != 2 || len(got.more) != 2 || !slices.Contains(got.more, d) {
			t.Errorf("%s: found %+v", e, got)
		}
	}
}

func TestLeanTools_CountAsCallsInFlight(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t, lean)
	c := b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withHintedTools().url)
	b.Grant(t, agent.ID, c.ID)
	view, err := b.access.LoadUncached(t.Context(), b.Tenant, connectors.Ref(agent.ID.String()))
	if err != nil {
		t.Fatal(err)
	}
	s := connect(t, b.url+"/mcp", b.Token(t, agent.ID), modern)
	requests := map[string]map[string]any{"find_tools": {"words": "note"}, "describe_tools": {"names": []string{"mcp_one__read_note"}}}
	var releases []func()
	for {
		release, err := b.caller.AcquireCall(view)
		if err != nil {
			break
		}
		releases = append(releases, release)
	}
	for name, arguments := range requests {
		if got := call(t, s, name, arguments); !got.IsError || !strings.Contains(textOf(got), "running calls") {
			t.Errorf("beside %d calls, %s answers %.200s", len(releases), name, textOf(got))
		}
	}
	releases[0]()
	for range 2 { // the slot is given back
		for name, arguments := range requests {
			if got := call(t, s, name, arguments); got.IsError {
				t.Errorf("%s answers %.200s", name, textOf(got))
			}
		}
	}
}

// TestLeanList_DirectCallNeedsNoMirroredParams calls a tool of which the client knows the name alone (2026-07-28, "Custom Headers").
func TestLeanList_DirectCallNeedsNoMirroredParams(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{})
	up.AddTool(&sdk.Tool{Name: "sum", InputSchema: json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`)},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "42"}}}, nil
		})
	c := b.newConnector(t, "one", up.url)
	full, thin, pinned := b.newAutoAgent(t), b.newAutoAgent(t, lean), b.newAutoAgent(t, lean)
	b.Grant(t, full.ID, c.ID)
	b.Grant(t, thin.ID, c.ID)
	b.Grant(t, pinned.ID, c.ID, func(g *connectors.Grant) { g.PinnedTools = []string{"sum"} })
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp_one__sum","arguments":{"region":"eu"},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	for name, tc := range map[string]struct {
		agent  connectors.AgentID
		header []string
		want   string
	}{
		"in a full list":          {full.ID, nil, "Mcp-Param-Region must occur once"},
		"in a full list, sent":    {full.ID, []string{"Mcp-Param-Region", "eu"}, `"42"`},
		"in no list":              {thin.ID, nil, `"42"`},
		"in no list, sent":        {thin.ID, []string{"Mcp-Param-Region", "eu"}, `"42"`},
		"in no list, sent wrong":  {thin.ID, []string{"Mcp-Param-Region", "us"}, "differs from the call's parameter"},
		"in no list, another one": {thin.ID, []string{"Mcp-Param-Other", "eu"}, "Mcp-Param-Region must occur once"},
		"pinned":                  {pinned.ID, nil, "Mcp-Param-Region must occur once"},
	} {
		got := post(t, b.url+"/mcp", body, append([]string{"Authorization", bearerHeader(b.Token(t, tc.agent))}, tc.header...)...)
		if !strings.Contains(got.body, tc.want) {
			t.Errorf("%s: %s, not %s", name, got.body, tc.want)
		}
	}
}
