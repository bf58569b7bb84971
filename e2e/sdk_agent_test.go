//go:build e2e

package e2e_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// sdkAgent is a third-party client in a session with the gateway.
type sdkAgent struct {
	*sdk.ClientSession
	ctx      context.Context
	progress chan *sdk.ProgressNotificationParams
	prefix   string // of the names of tools and prompts
	scheme   string // of the URIs of resources
}

// enter opens a session at a gateway address. slug selects the names at the address for all connectors; path:
// after /mcp.
func (g gate) enter(t *testing.T, path, slug, revision string) *sdkAgent {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	a := &sdkAgent{ctx: ctx, progress: make(chan *sdk.ProgressNotificationParams, 100)}
	if path == "" {
		a.prefix, a.scheme = "mcp_"+slug+"__", "patchbay+"+slug+":"
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{},
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"name": "Robin"}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { a.progress <- r.Params },
	})
	way := &sdk.StreamableClientTransport{Endpoint: g.base + "/mcp" + path, HTTPClient: &http.Client{Transport: g}}
	session, err := client.Connect(ctx, way, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	if got := session.InitializeResult().ProtocolVersion; got != revision {
		t.Errorf("the gateway speaks %s, want %s", got, revision)
	}
	a.ClientSession = session
	return a
}

func (a *sdkAgent) call(tool string, arguments any) (*sdk.CallToolResult, error) {
	params := &sdk.CallToolParams{Name: a.prefix + tool, Arguments: arguments}
	params.SetProgressToken("p-" + tool)
	return a.CallTool(a.ctx, params)
}

// text is what a call answered in words.
func text(t *testing.T, result *sdk.CallToolResult, err error) string {
	t.Helper()
	if err != nil {
		t.Error(err)
		return ""
	}
	var out strings.Builder
	for _, c := range result.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			out.WriteString(c.Text)
		}
	}
	return out.String()
}

// A third-party client finds everything behind the gateway: in each revision, at both kinds of address, with
// servers of both eras.
func TestTheSDKsClientWorksThroughTheGateway(t *testing.T) {
	t.Parallel()
	boxes := map[string]*toolbox{
		"newest":   newToolbox(t, &sdk.StreamableHTTPOptions{Stateless: true}),
		"sessions": newToolbox(t, &sdk.StreamableHTTPOptions{}),
	}
	g := admin(t).admit(boxes)
	t.Run("clients", func(t *testing.T) {
		for _, revision := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"} {
			for slug, box := range boxes {
				for _, path := range []string{"", "/" + slug} {
					t.Run(revision+" "+slug+" at /mcp"+path, func(t *testing.T) {
						t.Parallel()
						g.enter(t, path, slug, revision).doEverything(t, box, revision)
					})
				}
			}
		}
	})
	for slug, box := range boxes {
		if others := box.strangers("Bearer " + toolboxToken); len(others) > 0 {
			t.Errorf("%s was told %q", slug, others)
		}
	}
}

func (a *sdkAgent) doEverything(t *testing.T, box *toolbox, revision string) {
	a.listEverything(t)
	echoed, err := a.call("echo", json.RawMessage(`{"text":"5 < 6 & ✓"}`))
	if got := text(t, echoed, err); got != `{"text":"5 < 6 & ✓"}` {
		t.Errorf("echo said %s", got)
	}
	failed, err := a.call("fail", nil)
	if got := text(t, failed, err); got != "The printer is on fire." || !failed.IsError {
		t.Errorf("fail said %q", got)
	}
	a.meetErrors(t)
	a.count(t)
	if revision >= "2025-06-18" { // before, servers had no questions
		asked, err := a.call("ask", nil)
		if got := text(t, asked, err); got != "Hello, Robin!" {
			t.Errorf("ask said %q", got)
		}
	}
	a.readEverything(t)
	a.giveUp(t, box)
}

// listEverything finds the toolbox's things, and knows them by the names of the address.
func (a *sdkAgent) listEverything(t *testing.T) {
	t.Helper()
	have := map[string]bool{}
	for tool, err := range a.Tools(a.ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		have[tool.Name] = true
	}
	for resource, err := range a.Resources(a.ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		have[resource.URI] = true
	}
	for template, err := range a.ResourceTemplates(a.ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		have[template.URITemplate] = true
	}
	for prompt, err := range a.Prompts(a.ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		have[prompt.Name] = true
	}
	for _, want := range []string{
		a.prefix + "echo", a.prefix + "wait", a.prefix + "greet", a.scheme + "file:///notes.txt", a.scheme + "file:///{name}",
	} {
		if !have[want] {
			t.Errorf("%s is not among %v", want, have)
		}
	}
}

// meetErrors: what is wrong with a request, and what the server says of one, are JSON-RPC errors.
func (a *sdkAgent) meetErrors(t *testing.T) {
	t.Helper()
	for name, test := range map[string]struct {
		tool      string
		arguments any
		code      int64 // 0: whatever the server says
		says      string
	}{
		"an unknown tool":  {"nothing", nil, jsonrpc.CodeInvalidParams, ""},
		"a server's error": {"break", nil, 0, ""},
	} {
		_, err := a.call(test.tool, test.arguments)
		refused, ok := errors.AsType[*jsonrpc.Error](err)
		if !ok || refused.Code != cmp.Or(test.code, refused.Code) || !strings.Contains(refused.Message, test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for member, arguments := range map[string]string{"text": `{"text":7}`, "texxt": `{"texxt":"a"}`} {
		misfit, err := a.call("echo", json.RawMessage(arguments))
		if got := text(t, misfit, err); misfit == nil || !misfit.IsError || !strings.Contains(got, member) {
			t.Errorf("arguments that do not fit: %q", got)
		}
	}
}

// count hears all progress before the answer, under the token that was sent.
func (a *sdkAgent) count(t *testing.T) {
	t.Helper()
	counted, err := a.call("count", nil)
	if got := text(t, counted, err); got != "counted" {
		t.Errorf("count said %q", got)
	}
	for i := range 3 {
		select {
		case p := <-a.progress:
			if p.ProgressToken != "p-count" || p.Progress != float64(i+1) || p.Total != 3 {
				t.Errorf("progress %d is %+v", i+1, p)
			}
		case <-a.ctx.Done():
			t.Fatalf("progress %d was not told", i+1)
		}
	}
}

func (a *sdkAgent) readEverything(t *testing.T) {
	t.Helper()
	for _, uri := range []string{"file:///notes.txt", "file:///other"} {
		got, err := a.ReadResource(a.ctx, &sdk.ReadResourceParams{URI: a.scheme + uri})
		if err != nil {
			t.Errorf("%s: %v", uri, err)
		} else if c := got.Contents[0]; c.Text != "contents of "+uri || c.URI != a.scheme+uri {
			t.Errorf("%s says %q of %s", uri, c.Text, c.URI)
		}
	}
	if _, err := a.ReadResource(a.ctx, &sdk.ReadResourceParams{URI: a.scheme + "file:///missing"}); err == nil {
		t.Error("a missing resource was read")
	}
	got, err := a.GetPrompt(a.ctx, &sdk.GetPromptParams{Name: a.prefix + "greet", Arguments: map[string]string{"name": "Ann"}})
	if err != nil {
		t.Error(err)
	} else if said := got.Messages[0].Content.(*sdk.TextContent).Text; said != "Greet Ann." {
		t.Errorf("greet said %q", said)
	}
	completed, err := a.Complete(a.ctx, &sdk.CompleteParams{
		Ref:      &sdk.CompleteReference{Type: "ref/prompt", Name: a.prefix + "greet"},
		Argument: sdk.CompleteParamsArgument{Name: "name", Value: "An"},
	})
	if err != nil || len(completed.Completion.Values) != 1 || completed.Completion.Values[0] != "Anna" {
		t.Errorf("completed %+v, %v", completed, err)
	}
}

// giveUp ends a call, and the server hears of it.
func (a *sdkAgent) giveUp(t *testing.T, box *toolbox) {
	t.Helper()
	ctx, cancel := context.WithCancel(a.ctx)
	ended := make(chan error, 1)
	go func() {
		_, err := a.CallTool(ctx, &sdk.CallToolParams{Name: a.prefix + "wait"})
		ended <- err
	}()
	select {
	case <-box.waiting:
	case err := <-ended:
		t.Fatalf("the call ended by itself: %v", err)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("a call that was given up has an answer")
	}
	select {
	case <-box.cancelled:
	case <-a.ctx.Done():
		t.Error("the server goes on with a call that was given up")
	}
}
