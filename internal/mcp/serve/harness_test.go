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

	"patchbay/internal/mcp/serve"
	"patchbay/internal/mcp/sse"
	"patchbay/internal/socket"
)

// desk is a backend whose answers a test writes.
type desk struct {
	answer   func(ctx context.Context, r *serve.Request) (json.RawMessage, error) // nil: {}
	prepared []byte
	listen   func(ctx context.Context, f serve.Filter, hear func(string, json.RawMessage)) error // nil: until ctx ends

	mu       sync.Mutex // guards what follows
	notified []string
}

const everything = `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"logging":{}}`

func (d *desk) Describe(context.Context, *serve.Peer) serve.Description {
	return serve.Description{
		Name: "desk", Version: "1", Title: "The desk", Instructions: "Ask.", Capabilities: json.RawMessage(everything),
	}
}

func (d *desk) Serve(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	if d.answer == nil {
		return json.RawMessage("{}"), nil
	}
	return d.answer(ctx, r)
}

func (d *desk) Prepared(string, string, *serve.Peer) []byte { return d.prepared }

func (d *desk) Listen(ctx context.Context, f serve.Filter, hear func(string, json.RawMessage)) error {
	if d.listen != nil {
		return d.listen(ctx, f, hear)
	}
	<-ctx.Done()
	return nil
}

func (d *desk) Notified(_ context.Context, _ *serve.Peer, method string, params json.RawMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notified = append(d.notified, method+" "+string(params))
}

func (d *desk) heard() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.notified, ", ")
}

// place is a running server with one address for each caller: the first element of the path.
type place struct {
	t      *testing.T
	url    string
	client *http.Client
	*serve.Server
}

func open(t *testing.T, b serve.Backend, options ...func(*serve.Options)) *place {
	t.Helper()
	opts := serve.Options{Log: slog.New(slog.DiscardHandler)}
	for _, set := range options {
		set(&opts)
	}
	s := serve.New(opts)
	web := httptest.NewUnstartedServer(caller(s, b))
	web.Listener, web.Config.ConnContext = serve.Connections(socket.Listener(web.Listener)), serve.ConnContext
	web.Start()
	return closing(t, s, web, http.DefaultClient)
}

// openHTTP2 is open, over HTTP/2.
func openHTTP2(t *testing.T, b serve.Backend) *place {
	t.Helper()
	s := serve.New(serve.Options{Log: slog.New(slog.DiscardHandler)})
	web := httptest.NewUnstartedServer(caller(s, b))
	web.EnableHTTP2 = true
	web.StartTLS()
	return closing(t, s, web, web.Client())
}

func caller(s *serve.Server, b serve.Backend) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Handle(w, r, strings.Trim(r.URL.Path, "/"), b) })
}

func closing(t *testing.T, s *serve.Server, web *httptest.Server, client *http.Client) *place {
	t.Cleanup(func() {
		ended, end := context.WithCancel(context.Background())
		end()
		web.CloseClientConnections()
		s.Stop(ended)
		web.Close()
	})
	return &place{t: t, url: web.URL + "/me", client: client, Server: s}
}

// ask is an HTTP request.
type ask struct {
	method string // empty: POST
	path   string // in place of /me
	header map[string]string
	body   string
	ctx    context.Context
}

// reply is what came back.
type reply struct {
	*http.Response
	t      *testing.T
	events *sse.Reader
}

func (p *place) send(a ask) *reply {
	p.t.Helper()
	ctx := a.ctx
	if ctx == nil {
		ctx = p.t.Context()
	}
	response, err := p.try(ctx, a)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = response.Body.Close() })
	return &reply{Response: response, t: p.t, events: sse.NewReader(response.Body, 1<<20)}
}

// try sends a request whose reply may not come.
func (p *place) try(ctx context.Context, a ask) (*http.Response, error) {
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

// text is the whole body.
func (r *reply) text() string {
	r.t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(body)
}

// next is the next event.
func (r *reply) next() sse.Event {
	r.t.Helper()
	event, err := r.events.Next()
	if err != nil {
		r.t.Fatalf("no event: %v", err)
	}
	return event
}

// message is the next event's data.
func (r *reply) message() string {
	r.t.Helper()
	return string(r.next().Data)
}

// ended fails unless the stream is at its end.
func (r *reply) ended() {
	r.t.Helper()
	if event, err := r.events.Next(); err != io.EOF {
		r.t.Errorf("stream goes on with %q, %v", event.Data, err)
	}
}

// code is that of the JSON-RPC error in a body.
func code(body string) int {
	var m struct{ Error struct{ Code int } }
	_ = json.Unmarshal([]byte(body), &m)
	return m.Error.Code
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}`

// modern is a right request of the modern era; params are members of params, meta of _meta, each with a comma in front.
func modern(method, params, meta string) ask {
	a := ask{
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

// session begins one of the handshake era.
func (p *place) session(version, capabilities string) string {
	p.t.Helper()
	r := p.send(ask{body: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version +
		`","capabilities":` + capabilities + `,"clientInfo":{"name":"t","version":"1"}}}`})
	id := r.Header.Get("Mcp-Session-Id")
	if body := r.text(); id == "" || !strings.Contains(body, `"protocolVersion":"`+version+`"`) {
		p.t.Fatalf("initialize: %d %s", r.StatusCode, body)
	}
	return id
}

// inSession is a message of a session.
func inSession(session, body string) ask {
	return ask{header: map[string]string{"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}, body: body}
}
