package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
)

// withAlikeTools adds reading tools that a search for a note finds alike. One of them answers with an error: broken.
func (u *upstream) withAlikeTools(broken string, names ...string) *upstream {
	for _, name := range names {
		handler := echoHandler(name)
		if name == broken {
			handler = func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "broken"}}}, nil
			}
		}
		u.AddTool(&sdk.Tool{
			Name: name, Description: "Keeps a note.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true},
			InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`),
		}, handler)
	}
	return u
}

// findFirst returns the first tool that a search for a note finds.
func findFirst(t *testing.T, s *sdk.ClientSession) string {
	t.Helper()
	found := readLeanAnswer(t, call(t, s, "find_tools", map[string]any{"words": "jot down a note for Zaphod"}))
	if len(found.tools) == 0 {
		t.Fatal("nothing found")
	}
	return found.tools[0]
}

func TestFindTools_LearnsFromCalls(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		for _, direct := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, by name %t", e, direct), func(t *testing.T) {
				t.Parallel()
				b := newTestEnv(t)
				agent := b.newAutoAgent(t, lean)
				up := newUpstream(t, sdk.StreamableHTTPOptions{}).withAlikeTools("note_c", "note_a", "note_b", "note_c")
				c := b.newConnector(t, "one", up.url)
				b.Grant(t, agent.ID, c.ID)
				s := connect(t, b.url+"/mcp", b.Token(t, agent.ID), e)
				use := func(name string) *sdk.CallToolResult {
					if direct {
						return call(t, s, name, map[string]any{"text": "hi"})
					}
					return call(t, s, "call_reading", map[string]any{"name": name, "arguments": map[string]any{"text": "hi"}})
				}
				if first := findFirst(t, s); first != "mcp_one__note_a" {
					t.Fatalf("at first %s is found", first)
				}
				if result := use("mcp_one__note_c"); !result.IsError {
					t.Fatal("note_c does not fail")
				}
				if first := findFirst(t, s); first != "mcp_one__note_a" {
					t.Errorf("after a call that failed %s is found", first)
				}
				use("mcp_one__note_b")
				eventually(t, "the tool that was called is found first", func() bool { return findFirst(t, s) == "mcp_one__note_b" }) // words may be read again just then
				restarted := connect(t, newTestProcess(t, b.World).url+"/mcp", b.Token(t, agent.ID), e)
				eventually(t, "another process finds it too", func() bool { return findFirst(t, restarted) == "mcp_one__note_b" })
			})
		}
	}
}

func TestFindTools_LearnsNothingWithoutAHistory(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t, lean)
	c := b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withAlikeTools("", "note_a", "note_b").url)
	b.Grant(t, agent.ID, c.ID)
	if err := b.Door().SetCallSettings(t.Context(), connectors.HistoryNone, connectors.ReadersEveryone, time.Minute); err != nil {
		t.Fatal(err)
	}
	s := connect(t, b.url+"/mcp", b.Token(t, agent.ID), modern)
	findFirst(t, s)
	call(t, s, "mcp_one__note_b", map[string]any{"text": "hi"})
	if first := findFirst(t, s); first != "mcp_one__note_a" {
		t.Errorf("%s is found", first)
	}
}
