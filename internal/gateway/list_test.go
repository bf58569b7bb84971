package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// withEchoTools adds tools that return their arguments.
func (u *upstream) withEchoTools(names ...string) *upstream {
	for _, name := range names {
		u.AddTool(&sdk.Tool{Name: name, Description: "Says " + name + ".", InputSchema: json.RawMessage(
			`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)}, echoHandler(name))
	}
	return u
}

func echoHandler(name string) sdk.ToolHandler {
	return func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in struct{ Text string }
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: name + ": " + in.Text}}}, nil
	}
}

func toolNames(t testing.TB, s *sdk.ClientSession) string {
	t.Helper()
	var names []string
	for tool, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}

func call(t testing.TB, s *sdk.ClientSession, tool string, arguments any) *sdk.CallToolResult {
	t.Helper()
	result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("call %s: %v", tool, err)
	}
	return result
}

func textOf(r *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

func TestAgent_SeesAndCallsGrantedTools(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	first := b.newConnector(t, "first", newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("b", "a").url)
	second := b.newConnector(t, "second", newUpstream(t, sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true}).withEchoTools("a").url)
	b.newConnector(t, "third", newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a").url) // not granted
	b.Grant(t, agent.ID, first.ID)
	b.Grant(t, agent.ID, second.ID)
	token := b.Token(t, agent.ID)
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			all := connect(t, b.url+"/mcp", token, e)
			if diff := cmp.Diff("mcp_first__a mcp_first__b mcp_second__a", toolNames(t, all)); diff != "" {
				t.Error(diff)
			}
			if got := textOf(call(t, all, "mcp_first__b", map[string]any{"text": "hello"})); got != "b: hello" {
				t.Errorf("it says %q", got)
			}
			if got := textOf(call(t, all, "mcp_second__a", map[string]any{"text": "hello"})); got != "a: hello" {
				t.Errorf("it says %q", got)
			}
			one := connect(t, b.url+"/mcp/second", token, e)
			if names := toolNames(t, one); names != "a" {
				t.Errorf("alone it lists %q", names)
			}
			if got := textOf(call(t, one, "a", map[string]any{"text": "hello"})); got != "a: hello" {
				t.Errorf("it says %q", got)
			}
			if info := one.InitializeResult(); info.ServerInfo.Name != "peer" || info.Instructions != "Be kind." {
				t.Errorf("it is %+v", info.ServerInfo)
			}
		})
	}
}
