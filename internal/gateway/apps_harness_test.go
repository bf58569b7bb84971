package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
)

const (
	uiExtension = "io.modelcontextprotocol/ui"
	appType     = "text/html;profile=mcp-app"
	// resourceUI is the metadata of a UI resource, in the server's own order and spacing.
	resourceUI = `{"ui":{"csp":{"connectDomains":["https://ui.example"]},"permissions":{"camera":{}},"prefersBorder":true}}`
)

// uiServer is a server with MCP Apps (SEP-1865). All such servers have the same tools and URIs. UI tools and resources exist
// for clients that declare the extension.
type uiServer struct {
	*sdk.Server
	url, name string

	mu    sync.Mutex // guards the fields below
	calls []string
	saw   map[string][]string // extensions that clients declared, as JSON, by method
}

var uiServers = map[era]sdk.StreamableHTTPOptions{legacy: {}, modern: {Stateless: true}}

func newUIServer(t *testing.T, name string, e era) *uiServer {
	t.Helper()
	u := &uiServer{name: name, saw: map[string][]string{}}
	caps := &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{Subscribe: true}, Prompts: &sdk.PromptCapabilities{}}
	caps.AddExtension(uiExtension, map[string]any{})
	caps.AddExtension("com.example/"+name, map[string]any{"level": 1})
	caps.AddExtension("com.example/shared", map[string]any{"kinds": []string{name}})
	s := sdk.NewServer(&sdk.Implementation{Name: name, Version: "v1"}, &sdk.ServerOptions{
		Capabilities:       caps,
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	object := json.RawMessage(`{"type":"object"}`)
	for tool, meta := range map[string]string{
		"show":    `{"ui":{"resourceUri":"ui://app/main.html"},"ui/resourceUri":"ui://app/main.html","keep":"ui://app/main.html"}`,
		"hidden":  `{"ui":{"resourceUri":"ui://app/unlisted.html"}}`,
		"refresh": `{"ui":{"visibility":["app"]}}`,
		"ask":     `{"ui":{"visibility":["model"]}}`,
		name:      `{"ui":{"visibility":["app"]}}`,
	} {
		s.AddTool(&sdk.Tool{Name: tool, Description: tool, InputSchema: object, Meta: readMeta(meta)}, u.callTool)
	}
	for _, uri := range []string{"ui://app/main.html", "ui://app/unlisted.html"} {
		s.AddResource(&sdk.Resource{URI: uri, Name: uri, MIMEType: appType, Meta: readMeta(resourceUI)}, u.readResource)
	}
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "ui://app/pages/{page}", Name: "pages", MIMEType: appType}, u.readResource)
	s.AddPrompt(&sdk.Prompt{Name: "tour"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
			{Role: "user", Content: &sdk.ResourceLink{URI: "ui://app/main.html", Name: "main"}},
			{Role: "user", Content: &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "ui://app/main.html", Text: name}}},
		}}, nil
	})
	u.Server = s
	s.AddReceivingMiddleware(u.hideUI)
	options := uiServers[e]
	front := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &options))
	closeAtEnd(t, front)
	u.url = front.URL
	return u
}

func readMeta(raw string) (meta sdk.Meta) {
	if err := json.Unmarshal([]byte(raw), &meta); err != nil {
		panic(err)
	}
	return meta
}

// hideUI records what a client declares, and hides UI tools from clients without the extension, also in calls, and a resource from lists.
func (u *uiServer) hideUI(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if strings.HasPrefix(method, "notifications/") {
			return next(ctx, method, r)
		}
		var declared struct{ Extensions map[string]json.RawMessage }
		if raw, ok := r.GetParams().GetMeta()["io.modelcontextprotocol/clientCapabilities"]; ok {
			encoded, _ := json.Marshal(raw)
			_ = json.Unmarshal(encoded, &declared)
		} else if s, ok := r.GetSession().(*sdk.ServerSession); ok && s.InitializeParams() != nil {
			encoded, _ := json.Marshal(s.InitializeParams().Capabilities)
			_ = json.Unmarshal(encoded, &declared)
		}
		encoded, _ := json.Marshal(declared.Extensions)
		u.mu.Lock()
		u.saw[method] = append(u.saw[method], string(encoded))
		u.mu.Unlock()
		if method == "tools/call" && declared.Extensions[uiExtension] == nil {
			return nil, errors.New("no such tool for this client")
		}
		result, err := next(ctx, method, r)
		switch list := result.(type) {
		case *sdk.ListToolsResult:
			if declared.Extensions[uiExtension] == nil {
				list.Tools = nil
			}
		case *sdk.ListResourcesResult:
			list.Resources = slices.DeleteFunc(slices.Clone(list.Resources), func(r *sdk.Resource) bool { return strings.Contains(r.URI, "unlisted") })
		}
		return result, err
	}
}

func (u *uiServer) callTool(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	u.mu.Lock()
	u.calls = append(u.calls, r.Params.Name)
	u.mu.Unlock()
	return &sdk.CallToolResult{
		Meta: readMeta(`{"ui":{"resourceUri":"ui://app/main.html"},"openai/outputTemplate":"ui://app/main.html"}`),
		Content: []sdk.Content{
			&sdk.TextContent{Text: u.name + " " + r.Params.Name + " ui://app/main.html"},
			&sdk.ResourceLink{URI: "ui://app/main.html", Name: "main"},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "ui://app/main.html", MIMEType: appType, Text: u.name}},
			&sdk.ResourceLink{URI: "file:///notes", Name: "notes"},
		},
	}, nil
}

func (u *uiServer) readResource(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{
		{URI: r.Params.URI, MIMEType: appType, Text: "<p>" + u.name + " " + r.Params.URI, Meta: readMeta(resourceUI)},
	}}, nil
}

// takeCalls returns the tools that were called since the last time.
func (u *uiServer) takeCalls() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	calls := u.calls
	u.calls = nil
	return calls
}

// lastDeclared returns the extensions that came with the last request of a method.
func (u *uiServer) lastDeclared(method string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.saw[method]) == 0 {
		return ""
	}
	return u.saw[method][len(u.saw[method])-1]
}

// uiPair is an agent with two UI servers.
type uiPair struct {
	*testEnv
	agent   connectors.Agent
	servers map[string]*uiServer
}

func newUIPair(t *testing.T, server era) *uiPair {
	t.Helper()
	p := &uiPair{testEnv: newTestEnv(t), servers: map[string]*uiServer{}}
	p.agent = p.newAutoAgent(t)
	for _, slug := range []string{"one", "two"} {
		p.servers[slug] = newUIServer(t, slug, server)
		p.Grant(t, p.agent.ID, p.newConnector(t, slug, p.servers[slug].url).ID)
	}
	return p
}

func (p *uiPair) connectHost(t *testing.T, path string, e era, extensions map[string]any) *sdk.ClientSession {
	t.Helper()
	return connect(t, p.url+path, p.Token(t, p.agent.ID), e, func(o *sdk.ClientOptions) {
		o.Capabilities = &sdk.ClientCapabilities{Extensions: extensions}
	})
}

var uiHost = map[string]any{uiExtension: map[string]any{"mimeTypes": []string{appType}}}

// everyUIPair runs a test with each pair of client and server revisions.
func everyUIPair(t *testing.T, test func(t *testing.T, p *uiPair, client era)) {
	t.Helper()
	for _, server := range eras {
		for _, client := range eras {
			t.Run(fmt.Sprintf("server %s, client %s", server, client), func(t *testing.T) {
				t.Parallel()
				test(t, newUIPair(t, server), client)
			})
		}
	}
}

// sameJSON reports whether a value encodes to the JSON.
func sameJSON(value any, want string) bool {
	encoded, _ := json.Marshal(value)
	var a, b any
	_ = json.Unmarshal(encoded, &a)
	_ = json.Unmarshal([]byte(want), &b)
	first, _ := json.Marshal(a)
	second, _ := json.Marshal(b)
	return string(first) == string(second)
}
