package serve_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/fasthttp/tcp"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/mcp/sse"
)

type testBackend struct {
	answer   func(ctx context.Context, r *serve.Request) (json.RawMessage, error) // nil: {}
	prepared []byte
	listen   func(ctx context.Context, f serve.Filter, hear func(string, json.RawMessage)) error // nil: until ctx ends

	mu       sync.Mutex // guards the fields below
	notified []string
}

const allCapabilities = `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"logging":{}}`

func (d *testBackend) Describe(context.Context, *serve.Client) serve.Description {
	return serve.Description{
		Name: "desk", Version: "1", Title: "The desk", Instructions: "Ask.", Capabilities: json.RawMessage(allCapabilities),
	}
}

func (d *testBackend) Serve(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	if d.answer == nil {
		return json.RawMessage("{}"), nil
	}
	return d.answer(ctx, r)
}

func (d *testBackend) CachedResult(string, string, *serve.Client) []byte { return d.prepared }

func (d *testBackend) Listen(ctx context.Context, f serve.Filter, notify func(string, json.RawMessage)) error {
	if d.listen != nil {
		return d.listen(ctx, f, notify)
	}
	<-ctx.Done()
	return nil
}

func (d *testBackend) HandleNotification(_ context.Context, _ *serve.Client, method string, params json.RawMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notified = append(d.notified, method+" "+string(params))
}

func (d *testBackend) receivedNotifications() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.notified, ", ")
}

// testServer is a running server. The first element of the path is the caller.
type testServer struct {
	t      *testing.T
	url    string
	client *http.Client
	*serve.Server
}

func newTestServer(t *testing.T, b serve.Backend, options ...func(*serve.Options)) *testServer {
	t.Helper()
	opts := serve.Options{Log: slog.New(slog.DiscardHandler)}
	for _, set := range options {
		set(&opts)
	}
	s := serve.New(opts)
	web := httptest.NewUnstartedServer(newHandler(s, b))
	web.Listener, web.Config.ConnContext = serve.Connections(tcp.WrapListener(web.Listener)), serve.ConnContext
	web.Start()
	return wrapTestServer(t, s, web, web.Client())
}

func newHTTP2TestServer(t *testing.T, b serve.Backend) *testServer {
	t.Helper()
	s := serve.New(serve.Options{Log: slog.New(slog.DiscardHandler)})
	web := httptest.NewUnstartedServer(newHandler(s, b))
	web.EnableHTTP2 = true
	web.StartTLS()
	return wrapTestServer(t, s, web, web.Client())
}

func newHandler(s *serve.Server, b serve.Backend) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Handle(w, r, strings.Trim(r.URL.Path, "/"), b) })
}

func wrapTestServer(t *testing.T, s *serve.Server, web *httptest.Server, client *http.Client) *testServer {
	t.Cleanup(func() {
		ended, end := context.WithCancel(context.Background())
		end()
		web.CloseClientConnections()
		s.Stop(ended)
		web.Close()
	})
	return &testServer{t: t, url: web.URL + "/me", client: client, Server: s}
}

type testRequest struct {
	method string // empty: POST
	path   string // instead of /me
	header map[string]string
	body   string
	ctx    context.Context
}

type testReply struct {
	*http.Response
	t      *testing.T
	events *sse.Reader
}

func (p *testServer) send(a testRequest) *testReply {
	p.t.Helper()
	ctx := a.ctx
	if ctx == nil {
		ctx = p.t.Context()
	}
	response, err := p.do(ctx, a)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = response.Body.Close() })
	return &testReply{Response: response, t: p.t, events: sse.NewReader(response.Body, 1<<20)}
}

// do sends a request that may fail.
func (p *testServer) do(ctx context.Context, a testRequest) (*http.Response, error) {
	p.t.Helper()
	url := p.url
	if a.path != "" {
		url = strings.TrimSuffix(p.url, "/me") + a.path
	}
	if a.method == "" {
		a.method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(ctx, a.method, url, strings.NewReader(a.body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	if a.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range a.header {
		if r.Header.Del(name); value != "" {
			r.Header.Set(name, value)
		}
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	return p.client.Do(r)
}

func (r *testReply) text() string {
	r.t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(body)
}

func (r *testReply) next() sse.Event {
	r.t.Helper()
	event, err := r.events.Next()
	if err != nil {
		r.t.Fatalf("no event: %v", err)
	}
	return event
}

func (r *testReply) message() string {
	r.t.Helper()
	return string(r.next().Data)
}

// expectEnd fails unless the stream has ended.
func (r *testReply) expectEnd() {
	r.t.Helper()
	if event, err := r.events.Next(); err != io.EOF {
		r.t.Errorf("stream goes on with %q, %v", event.Data, err)
	}
}

// errorCode returns the code of the JSON-RPC error in a body.
func errorCode(body string) int {
	var m struct{ Error struct{ Code int } }
	_ = json.Unmarshal([]byte(body), &m)
	return m.Error.Code
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}`

// modernRequest is a valid modern request; params are members of params, meta of _meta, each with a comma in
// front.
func modernRequest(method, params, meta string) testRequest {
	a := testRequest{
		header: map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method},
		body:   `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + modernMeta + meta + `}` + params + `}}`,
	}
	var named struct{ Params struct{ Name, URI string } }
	_ = json.Unmarshal([]byte(a.body), &named)
	if name := named.Params.Name + named.Params.URI; name != "" {
		a.header["Mcp-Name"] = name
	}
	return a
}

func (p *testServer) startSession(version, capabilities string) string {
	p.t.Helper()
	r := p.send(testRequest{body: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version +
		`","capabilities":` + capabilities + `,"clientInfo":{"name":"t","version":"1"}}}`})
	id := r.Header.Get("Mcp-Session-Id")
	if body := r.text(); id == "" || !strings.Contains(body, `"protocolVersion":"`+version+`"`) {
		p.t.Fatalf("initialize: %d %s", r.StatusCode, body)
	}
	return id
}

func inSession(session, body string) testRequest {
	return testRequest{header: map[string]string{"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}, body: body}
}
