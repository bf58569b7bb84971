//go:build e2e

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/mcp"
)

// route is one way to a server: as our client goes it, and as the SDK's does.
type route struct {
	ours   mcp.Target
	theirs sdk.Transport
}

// Two clients that were not written by the same people read the same lists from servers that neither wrote, and from the SDK's.
// The SDK keeps no bytes: it decodes a tool and writes it again, without the members that it does not know. What it makes of our
// bytes of a tool is therefore compared with what it read by itself, byte for byte; and over HTTP our bytes have to be those that came.
func TestOurClientAndTheSDKsReadTheSameTools(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]func(*testing.T) route{
		"the SDK, stateful": func(t *testing.T) route { return streamable(serveSDK(t, &sdk.StreamableHTTPOptions{})) },
		"the SDK, stateful, JSON": func(t *testing.T) route {
			return streamable(serveSDK(t, &sdk.StreamableHTTPOptions{JSONResponse: true}))
		},
		"the SDK, stateless":          func(t *testing.T) route { return streamable(serveSDK(t, &sdk.StreamableHTTPOptions{Stateless: true})) },
		"the SDK, SSE":                routeToSDKOverSSE,
		"the SDK, stdio":              routeToSDKOverStdio,
		"everything, streamable HTTP": func(t *testing.T) route { return streamable(startEverything(t)) },
		"everything, SSE":             func(t *testing.T) route { return overSSE(startEverythingSSE(t)) },
		"everything, stdio":           func(t *testing.T) route { return program(t, everything, "stdio") },
		"filesystem, stdio": func(t *testing.T) route {
			return program(t, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", t.TempDir())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := to(t)
			ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
			defer cancel()
			ours, theirs := toolsByUs(ctx, t, r.ours), toolsBySDK(ctx, t, r.theirs)
			if len(theirs) == 0 {
				t.Fatal("the server lists no tools")
			}
			if diff := cmp.Diff(theirs, ours); diff != "" {
				t.Errorf("tools (-theirs +ours):\n%s", diff)
			}
		})
	}
}

// toolsByUs are the tools that our client reads, as the SDK writes them.
func toolsByUs(ctx context.Context, t *testing.T, to mcp.Target) map[string]string {
	t.Helper()
	var came tap
	d := &mcp.Dialer{HTTP: &http.Client{
		Transport:     &came,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, Version: "test"}
	s, err := d.Dial(ctx, to)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(ctx)
	list, err := s.Tools(ctx)
	if err != nil || len(list.Quarantined) > 0 {
		t.Fatalf("quarantined %v, error %v", list.Quarantined, err)
	}
	tools := map[string]string{}
	for _, tool := range list.Tools {
		if to.Transport != mcp.Stdio && !came.holds(tool.Raw) {
			t.Errorf("%s came otherwise than as %s", tool.Name, tool.Raw)
		}
		var theirs sdk.Tool
		if err := json.Unmarshal(tool.Raw, &theirs); err != nil {
			t.Fatal(err)
		}
		tools[tool.Name] = written(t, &theirs)
	}
	return tools
}

func toolsBySDK(ctx context.Context, t *testing.T, to sdk.Transport) map[string]string {
	t.Helper()
	// Without the roots that it offers by default: some servers list a tool more for those.
	can := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}
	s, err := sdk.NewClient(&sdk.Implementation{Name: "patchbay", Version: "test"}, can).Connect(ctx, to, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tools := map[string]string{}
	for tool, err := range s.Tools(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		tools[tool.Name] = written(t, tool)
	}
	return tools
}

func written(t *testing.T, tool *sdk.Tool) string {
	t.Helper()
	raw, err := json.Marshal(tool)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// tap is a way to servers that keeps what comes back.
type tap struct {
	mu   sync.Mutex // guards came
	came bytes.Buffer
}

// RoundTrip sends a request.
func (p *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := localTransport.RoundTrip(r)
	if err == nil {
		resp.Body = tapped{io.TeeReader(resp.Body, p), resp.Body}
	}
	return resp, err
}

// Write keeps a part of an answer.
func (p *tap) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.came.Write(b)
}

func (p *tap) holds(b []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Contains(p.came.Bytes(), b)
}

type tapped struct {
	io.Reader
	io.Closer
}

func streamable(url string) route {
	return route{ours: mcp.Target{URL: url}, theirs: &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: localClient}}
}

// program is one of npm's, as a child of each client.
func program(t *testing.T, script string, args ...string) route {
	t.Helper()
	needPeers(t)
	self, err := exec.LookPath(node())
	if err == nil {
		self, err = filepath.Abs(self)
	}
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(filepath.Join("peers", script))
	if err != nil {
		t.Fatal(err)
	}
	return child(self, append([]string{path}, args...)...)
}

func child(path string, args ...string) route {
	cmd := exec.Command(path, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), sdkPeer + "=1"}
	return route{
		ours:   mcp.Target{Transport: mcp.Stdio, Command: &mcp.Command{Path: path, Args: args, Env: cmd.Env}},
		theirs: &sdk.CommandTransport{Command: cmd, TerminateDuration: time.Second},
	}
}

func overSSE(url string) route {
	return route{ours: mcp.Target{URL: url, Transport: mcp.SSE}, theirs: &sdk.SSEClientTransport{Endpoint: url, HTTPClient: localClient}}
}

func serveSDK(t *testing.T, options *sdk.StreamableHTTPOptions) string {
	server := newSDKServer()
	return serve(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, options))
}

func routeToSDKOverSSE(t *testing.T) route {
	server := newSDKServer()
	return overSSE(serve(t, sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return server }, nil)))
}

func serve(t *testing.T, h http.Handler) string {
	up := httptest.NewServer(h)
	t.Cleanup(func() {
		up.CloseClientConnections()
		up.Close()
	})
	return up.URL
}

// sdkPeer names the environment variable that makes this test binary that server.
const sdkPeer = "PATCHBAY_TEST_SDK_PEER"

func routeToSDKOverStdio(t *testing.T) route {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return child(self)
}

// beSDKServer is the server of a test, in a process of its own: TestMain begins it.
func beSDKServer() { _ = newSDKServer().Run(context.Background(), &sdk.StdioTransport{}) }

// newSDKServer lists tools on several pages, with all that a tool can have.
func newSDKServer() *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "peer", Version: "v1"}, &sdk.ServerOptions{PageSize: 7})
	for i := range 30 {
		server.AddTool(&sdk.Tool{
			Meta: sdk.Meta{"example.com/n": i}, Name: fmt.Sprintf("tool_%d", i), Title: "A tool “of” <types> & more",
			Description: "Finds.\n\tAlways. ✓", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: i%2 == 0, Title: "t"},
			InputSchema:  json.RawMessage(`{"type":"object","properties":{"q":{"type":"integer","maximum":9223372036854775807,"multipleOf":1e-3}}}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"items":{"type":"array","items":{"type":"string"}}}}`),
		}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{}, nil
		})
	}
	return server
}
