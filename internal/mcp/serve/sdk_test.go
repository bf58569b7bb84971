package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/mcp/serve"
)

// The SDK's client is an independent implementation of the protocol.

// newToolBackend is a backend with one tool, one prompt and one resource.
func newToolBackend(t *testing.T) *testBackend {
	return &testBackend{
		answer: func(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
			switch r.Method {
			case "tools/list":
				return json.RawMessage(`{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"ask","inputSchema":{"type":"object"}}]}`), nil
			case "tools/call":
				return callTool(t, ctx, r)
			case "resources/read":
				return json.RawMessage(`{"contents":[{"uri":"` + r.Name + `","text":"hello"}]}`), nil
			case "prompts/get":
				return json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":"` + r.Name + `"}}]}`), nil
			}
			return nil, serve.MethodNotFound(r.Method)
		},
		listen: func(ctx context.Context, _ serve.Filter, notify func(string, json.RawMessage)) error {
			notify("notifications/tools/list_changed", nil)
			<-ctx.Done()
			return nil
		},
	}
}

func callTool(t *testing.T, ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	if token := r.ProgressToken(); token != nil {
		for i := range 3 {
			if err := r.Notify("notifications/progress", json.RawMessage(fmt.Sprintf(`{"progressToken":%s,"progress":%d}`, token, i+1))); err != nil {
				t.Error(err)
			}
		}
	}
	text := string(r.Arguments)
	if r.Name == "ask" {
		answer, err := r.SendRequest(ctx, "elicitation/create", json.RawMessage(`{"message":"Sure?","requestedSchema":{"type":"object","properties":{}}}`))
		if err != nil {
			return nil, err
		}
		text = string(answer)
	}
	quoted, _ := json.Marshal(text)
	return json.RawMessage(`{"content":[{"type":"text","text":` + string(quoted) + `}]}`), nil
}

func connectSDK(t *testing.T, p *testServer, version string, options *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "sdk", Version: "1"}, options)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: p.url, HTTPClient: p.client}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func TestSDK_ClientOfEachEraIsServed(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			p := newTestServer(t, newToolBackend(t))
			progress, changed := make(chan float64, 10), make(chan bool, 1)
			session := connectSDK(t, p, version, &sdk.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Progress },
				ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { changed <- true },
			})
			list, err := session.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != 2 || list.Tools[0].Name != "echo" {
				t.Fatalf("tools %v, %v", list, err)
			}
			params := &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"a": 1}}
			params.SetProgressToken("p")
			result, err := session.CallTool(t.Context(), params)
			if err != nil || result.Content[0].(*sdk.TextContent).Text != `{"a":1}` {
				t.Fatalf("result %v, %v", result, err)
			}
			if first := <-progress; first != 1 {
				t.Errorf("progress %v", first)
			}
			read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "file:///größe"})
			if err != nil || read.Contents[0].URI != "file:///größe" {
				t.Errorf("resource %v, %v", read, err)
			}
			prompt, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "greet"})
			if err != nil || prompt.Messages[0].Content.(*sdk.TextContent).Text != "greet" {
				t.Errorf("prompt %v, %v", prompt, err)
			}
			if _, err := session.ListPrompts(t.Context(), nil); err == nil {
				t.Error("a method that there is not was answered")
			}
			<-changed
		})
	}
}

func TestSDK_ClientAnswersServerRequest(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, newToolBackend(t))
	session := connectSDK(t, p, "2025-11-25", &sdk.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"said": r.Params.Message}}, nil
		},
	})
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "ask"})
	if err != nil {
		t.Fatal(err)
	}
	if text := result.Content[0].(*sdk.TextContent).Text; text != `{"action":"accept","content":{"said":"Sure?"}}` {
		t.Error(text)
	}
}
