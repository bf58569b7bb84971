package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"patchbay/internal/mcp/serve"
)

// newListenBackend is a backend that notifies its listeners of what the test sends.
func newListenBackend(filters chan<- serve.Filter, say <-chan string, left chan<- struct{}) *testBackend {
	return &testBackend{listen: func(ctx context.Context, f serve.Filter, notify func(string, json.RawMessage)) error {
		filters <- f
		for {
			select {
			case text := <-say:
				method, params, _ := strings.Cut(text, " ")
				notify(method, json.RawMessage(params))
			case <-ctx.Done():
				left <- struct{}{}
				return nil
			}
		}
	}}
}

func TestListen_ModernGetsRequestedNotifications(t *testing.T) {
	t.Parallel()
	filters, say, left := make(chan serve.Filter, 1), make(chan string), make(chan struct{}, 1)
	p := newTestServer(t, newListenBackend(filters, say, left))
	ctx, leave := context.WithCancel(t.Context())
	a := modernRequest("subscriptions/listen", `,"notifications":{"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["u:1"]}`, "")
	a.ctx = ctx
	r := p.send(a)
	if r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/event-stream" || r.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("%d %v", r.StatusCode, r.Header)
	}
	const tag = `"_meta":{"io.modelcontextprotocol/subscriptionId":1}`
	if have := r.message(); have != `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`+tag+
		`,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["u:1"]}}}` {
		t.Error(have)
	}
	if f := <-filters; !f.Tools || f.Prompts || f.Resources || len(f.URIs) != 1 || !f.Peer.Modern {
		t.Errorf("filter is %+v", f)
	}
	for _, text := range []string{
		"notifications/prompts/list_changed", "notifications/message {}", "notifications/tools/list_changed",
		`notifications/resources/updated {"uri":"u:1","_meta":{"a":1}}`, `notifications/resources/updated {"uri":"u:1"}`,
	} {
		say <- text
	}
	for _, want := range []string{
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + tag + `}}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"u:1","_meta":{"io.modelcontextprotocol/subscriptionId":1,"a":1}}}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{` + tag + `,"uri":"u:1"}}`,
	} {
		if have := r.message(); have != want {
			t.Error(have)
		}
	}
	leave()
	<-left
}

func TestListen_LimitsStreamsPerCaller(t *testing.T) {
	t.Parallel()
	filters, left := make(chan serve.Filter, 10), make(chan struct{}, 10)
	p := newTestServer(t, newListenBackend(filters, nil, left), func(o *serve.Options) { o.Listeners = 2 })
	session := p.startSession("2025-11-25", "{}")
	listen := modernRequest("subscriptions/listen", `,"notifications":{"toolsListChanged":true}`, "")
	get := testRequest{method: http.MethodGet, header: map[string]string{"Mcp-Session-Id": session}}
	ctx, leave := context.WithCancel(t.Context())
	first := listen
	first.ctx = ctx
	p.send(first)
	p.send(get)
	<-filters
	<-filters
	for name, a := range map[string]testRequest{"modern": listen, "handshake": get} {
		if r := p.send(a); r.StatusCode != http.StatusTooManyRequests {
			t.Errorf("%s: %d", name, r.StatusCode)
		}
	}
	leave()
	<-left
	for again := p.send(get); again.StatusCode != http.StatusOK; again = p.send(get) { // its slot is released a moment later
		if t.Context().Err() != nil {
			t.Fatal("nobody else is served")
		}
	}
}

func TestListen_LimitsResources(t *testing.T) {
	t.Parallel()
	filters := make(chan serve.Filter, 1)
	p := newTestServer(t, newListenBackend(filters, nil, make(chan struct{}, 2)))
	uris := strings.Repeat(`"u:1",`, 100_000) + `"u:2"`
	p.send(modernRequest("subscriptions/listen", `,"notifications":{"resourceSubscriptions":[`+uris+`]}`, ""))
	if f := <-filters; len(f.URIs) != 500 {
		t.Errorf("%d resources", len(f.URIs))
	}
	long := strings.Repeat("x", 8<<10)
	p.send(modernRequest("subscriptions/listen", `,"notifications":{"resourceSubscriptions":["u:`+long+`","u:1"`+strings.Repeat(`,"`+long+`"`, 10)+`]}`, ""))
	if f := <-filters; len(f.URIs) != 8 || f.URIs[0] != "u:1" {
		t.Errorf("%d long resources, the first is %.10s", len(f.URIs), f.URIs[0])
	}
}

func TestListen_AcknowledgesOnlySupportedLists(t *testing.T) {
	t.Parallel()
	filters := make(chan serve.Filter, 1)
	d := &noCapabilities{newListenBackend(filters, nil, make(chan struct{}, 1))}
	r := newTestServer(t, d).send(modernRequest("subscriptions/listen",
		`,"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["u:1"]}`, ""))
	if have := r.message(); !strings.Contains(have, `"notifications":{"toolsListChanged":true}`) {
		t.Error(have)
	}
	if f := <-filters; !f.Tools || f.Prompts || f.Resources || f.URIs != nil {
		t.Errorf("filter is %+v", f)
	}
}

type noCapabilities struct{ *testBackend }

func (noCapabilities) Describe(context.Context, *serve.Client) serve.Description {
	return serve.Description{Name: "poor", Capabilities: json.RawMessage(`{"tools":{"listChanged":true},"resources":{}}`)}
}

func TestListen_InvalidSubscriptionIsRejected(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{})
	a := modernRequest("subscriptions/listen", `,"notifications":{}`, "")
	a.header["Accept"] = "application/json"
	if r := p.send(a); r.StatusCode != http.StatusNotAcceptable {
		t.Errorf("JSON alone: %d", r.StatusCode)
	}
	for _, params := range []string{"", `,"notifications":true`} {
		r := p.send(modernRequest("subscriptions/listen", params, ""))
		if text := r.text(); r.StatusCode != 200 || errorCode(text) != -32602 {
			t.Errorf("with %q: %d %s", params, r.StatusCode, text)
		}
	}
}

func TestShut_EndsListenersGracefully(t *testing.T) {
	t.Parallel()
	filters, left := make(chan serve.Filter, 2), make(chan struct{}, 2)
	p := newTestServer(t, newListenBackend(filters, nil, left))
	session := p.startSession("2025-11-25", "{}")
	modernly := p.send(modernRequest("subscriptions/listen", `,"notifications":{}`, ""))
	modernly.next()
	legacy := p.send(testRequest{method: "GET", header: map[string]string{"Mcp-Session-Id": session}})
	<-filters
	<-filters
	p.CloseListeners()
	if have := modernly.message(); have != `{"jsonrpc":"2.0","id":1,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"resultType":"complete"}}` {
		t.Error(have)
	}
	modernly.expectEnd()
	legacy.expectEnd()
	p.Stop(t.Context())
	if r := p.send(modernRequest("subscriptions/listen", `,"notifications":{}`, "")); r.StatusCode != 503 {
		t.Errorf("afterwards: %d", r.StatusCode)
	}
}

func TestListen_HandshakeGetsEveryListChange(t *testing.T) {
	t.Parallel()
	filters, say, left := make(chan serve.Filter, 1), make(chan string), make(chan struct{}, 2)
	p := newTestServer(t, newListenBackend(filters, say, left), func(o *serve.Options) { o.KeepAlive = time.Millisecond })
	session := p.startSession("2025-06-18", "{}")
	for _, last := range []string{"", "listen"} {
		ctx, leave := context.WithCancel(t.Context())
		r := p.send(testRequest{method: "GET", ctx: ctx, header: map[string]string{
			"Mcp-Session-Id": session, "Accept": "text/event-stream", "Last-Event-ID": last,
		}})
		if f := <-filters; !f.Tools || !f.Prompts || !f.Resources || f.Peer.Session == "" {
			t.Errorf("filter is %+v", f)
		}
		if last != "" { // anything may have changed meanwhile
			for _, what := range []string{"tools", "prompts", "resources"} {
				if have := r.message(); have != `{"jsonrpc":"2.0","method":"notifications/`+what+`/list_changed"}` {
					t.Error(have)
				}
			}
		}
		say <- `notifications/resources/updated {"uri":"u:1"}`
		if have := r.message(); have != `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"u:1"}}` {
			t.Error(have)
		}
		leave()
		<-left
	}
}

func TestListen_ServedWithoutHijack(t *testing.T) {
	t.Parallel()
	filters, say, left := make(chan serve.Filter, 1), make(chan string), make(chan struct{}, 1)
	p := newHTTP2TestServer(t, newListenBackend(filters, say, left))
	ctx, leave := context.WithCancel(t.Context())
	a := modernRequest("subscriptions/listen", `,"notifications":{"toolsListChanged":true}`, "")
	a.ctx = ctx
	r := p.send(a)
	if r.ProtoMajor != 2 {
		t.Fatalf("HTTP/%d", r.ProtoMajor)
	}
	r.next()
	<-filters
	say <- "notifications/tools/list_changed"
	if have := r.message(); !strings.Contains(have, "list_changed") {
		t.Error(have)
	}
	leave()
	<-left
}

func TestListen_BackendPanicEndsOnlyItsStream(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{listen: func(context.Context, serve.Filter, func(string, json.RawMessage)) error { panic("no") }})
	r := p.send(modernRequest("subscriptions/listen", `,"notifications":{}`, ""))
	r.next()
	r.expectEnd()
	if r := p.send(modernRequest("server/discover", "", "")); r.StatusCode != 200 {
		t.Errorf("afterwards: %d", r.StatusCode)
	}
}

func TestListen_LimitsStreamsPerSession(t *testing.T) {
	t.Parallel()
	filters := make(chan serve.Filter, 10)
	p := newTestServer(t, newListenBackend(filters, nil, make(chan struct{}, 10)))
	one, other := p.startSession("2025-11-25", "{}"), p.startSession("2025-11-25", "{}")
	get := func(session string) int {
		return p.send(testRequest{method: http.MethodGet, header: map[string]string{"Mcp-Session-Id": session}}).StatusCode
	}
	for range 8 {
		if status := get(one); status != http.StatusOK {
			t.Fatalf("a stream of few: %d", status)
		}
		<-filters
	}
	if status := get(one); status != http.StatusTooManyRequests {
		t.Errorf("one more: %d", status)
	}
	if status := get(other); status != http.StatusOK {
		t.Errorf("another session's: %d", status)
	}
}

// unhijackable fails the test when its connection is hijacked.
type unhijackable struct {
	http.ResponseWriter
	t *testing.T
}

func (w unhijackable) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w unhijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.t.Error("the connection is hijacked")
	return nil, nil, http.ErrNotSupported
}

func TestListen_StandardModeLeavesConnectionToNetHTTP(t *testing.T) {
	t.Parallel()
	filters, say, left := make(chan serve.Filter, 1), make(chan string), make(chan struct{}, 1)
	s := serve.New(serve.Options{Log: slog.New(slog.DiscardHandler), UseNetHTTP: true})
	handler := newHandler(s, newListenBackend(filters, say, left))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(unhijackable{w, t}, r) }))
	p := wrapTestServer(t, s, web, web.Client())
	ctx, leave := context.WithCancel(t.Context())
	a := modernRequest("subscriptions/listen", `,"notifications":{"toolsListChanged":true}`, "")
	a.ctx = ctx
	r := p.send(a)
	r.next()
	<-filters
	say <- "notifications/tools/list_changed"
	if have := r.message(); !strings.Contains(have, "list_changed") {
		t.Error(have)
	}
	leave()
	<-left
}
