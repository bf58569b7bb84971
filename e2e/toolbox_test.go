//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolbox is an upstream of a third-party SDK. It has one of everything that an agent may request.
type toolbox struct {
	url       string
	waiting   chan struct{} // takes a value for each call of wait
	cancelled chan struct{} // and for each that its client cancelled
	over      chan struct{} // closed when the test ends

	mu   sync.Mutex // guards what follows
	seen []string   // the Authorization headers that came
}

// largest is a number that a detour over floating point would change.
const largest = `{"n":9007199254740993}`

func newToolbox(t *testing.T, options *sdk.StreamableHTTPOptions) *toolbox {
	t.Helper()
	b := &toolbox{waiting: make(chan struct{}, 100), cancelled: make(chan struct{}, 100), over: make(chan struct{})}
	server := sdk.NewServer(&sdk.Implementation{Name: "toolbox", Version: "v1"}, &sdk.ServerOptions{CompletionHandler: complete})
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}`)
	for name, handle := range map[string]sdk.ToolHandler{
		"echo": echo, "count": count, "ask": ask, "fail": fail, "break": crash, "wait": b.wait,
	} {
		server.AddTool(&sdk.Tool{Name: name, Description: "Does " + name + ".", InputSchema: schema}, handle)
	}
	server.AddPrompt(&sdk.Prompt{Name: "greet", Arguments: []*sdk.PromptArgument{{Name: "name", Required: true}}}, greet)
	server.AddResource(&sdk.Resource{Name: "notes", URI: "file:///notes.txt", MIMEType: "text/plain"}, read)
	server.AddResourceTemplate(&sdk.ResourceTemplate{Name: "any", URITemplate: "file:///{name}"}, read)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, options)
	b.url = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		b.seen = append(b.seen, r.Header.Get("Authorization"))
		b.mu.Unlock()
		if options.Stateless && r.Header.Get("Mcp-Name") == "wait" { // this SDK's own calls go on when their connection is closed
			defer context.AfterFunc(r.Context(), func() { b.cancelled <- struct{}{} })()
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { close(b.over) })
	return b
}

// strangers are the Authorization headers that came and are not want.
func (b *toolbox) strangers(want string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var others []string
	for _, header := range b.seen {
		if header != want {
			others = append(others, header)
		}
	}
	return others
}

func said(text string) (*sdk.CallToolResult, error) {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
}

func echo(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	result, err := said(string(r.Params.Arguments))
	result.StructuredContent = json.RawMessage(largest)
	return result, err
}

// count says how far it is, three times.
func count(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	for i := range 3 {
		err := r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3, Message: fmt.Sprintf("step %d", i+1),
		})
		if err != nil {
			return nil, err
		}
	}
	return said("counted")
}

// ask wants to know a name, and then greets.
func ask(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if given, ok := r.Params.InputResponses["who"].(*sdk.ElicitResult); ok {
		if given.Action != "accept" {
			return said("Never mind.")
		}
		return said(fmt.Sprintf("Hello, %v!", given.Content["name"]))
	}
	return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"who": &sdk.ElicitParams{
		Message: "What is your name?",
		RequestedSchema: &jsonschema.Schema{
			Type: "object", Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}}, Required: []string{"name"},
		},
	}}}, nil
}

func fail(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	result, err := said("The printer is on fire.")
	result.IsError = true
	return result, err
}

// crash answers with a JSON-RPC error.
func crash(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return nil, errors.New("out of paper")
}

// wait runs until its client is gone.
func (b *toolbox) wait(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	b.waiting <- struct{}{}
	select {
	case <-ctx.Done():
		b.cancelled <- struct{}{}
	case <-b.over:
	}
	return nil, errors.New("nobody waits")
}

func greet(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
		{Role: "user", Content: &sdk.TextContent{Text: "Greet " + r.Params.Arguments["name"] + "."}},
	}}, nil
}

func read(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	if strings.HasSuffix(r.Params.URI, "missing") {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: "contents of " + r.Params.URI}}}, nil
}

func complete(_ context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{r.Params.Argument.Value + "na"}}}, nil
}
