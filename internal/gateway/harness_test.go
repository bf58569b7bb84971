package gateway_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/agentview"
	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/gateway"
	"patchbay/internal/mcp"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/testing/testclient"
	"patchbay/internal/toolcall"
	"patchbay/internal/toolsync"
)

// patience bounds a wait for what must happen.
const patience = 2 * time.Minute

// testEnv is a test world with one gateway process. They share a store, so that the process knows of a change of the world
// before the change returns. Other processes hear of it a moment later.
type testEnv struct {
	*fixture.World
	*testProcess
}

func newTestEnv(t testing.TB, opts ...func(*toolcall.Options)) *testEnv {
	t.Helper()
	w := fixture.New(t)
	return &testEnv{World: w, testProcess: startProcess(t, w.St, opts...)}
}

// testProcess is one Patchbay process as agents see it.
type testProcess struct {
	url     string
	handler *gateway.Handler
	access  *agentview.Cache
	caller  *toolcall.Executor
	sync    *toolsync.Syncer
	history *calllog.Writer
	panics  atomic.Bool // calls with a missing account panic

	losesMail atomic.Bool // notices of mail are lost
}

// newTestProcess starts another process, with a store of its own.
func newTestProcess(t testing.TB, w *fixture.World) *testProcess {
	t.Helper()
	st, err := store.Open(t.Context(), w.Pool, w.KEK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	return startProcess(t, st)
}

// startProcess starts a process that receives database notices.
func startProcess(t testing.TB, st *store.Store, opts ...func(*toolcall.Options)) *testProcess {
	t.Helper()
	p := &testProcess{}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }))
	closeAtEnd(t, front)
	p.url = front.URL
	p.build(t, st, opts...)
	p.run(t, st)
	return p
}

func (p *testProcess) build(t testing.TB, st *store.Store, opts ...func(*toolcall.Options)) {
	t.Helper()
	base, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	dialer := &mcp.Dialer{HTTP: egress.Client(), Version: "test"}
	tokens := credentials.New(st)
	instance := fixture.NewInstance()
	p.sync = toolsync.New(toolsync.Options{Store: st, Credentials: tokens, Egress: egress, Version: "test", Instance: instance})
	if err := p.sync.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.access = agentview.New(agentview.Options{Store: st, LearnEvery: 20 * time.Millisecond})
	writer := calllog.New(calllog.Options{Store: st, Instance: instance})
	p.history = writer
	o := toolcall.Options{
		Store: st, Access: p.access, Credentials: tokens, Dialer: dialer, Target: p.sync.Target, AcquireSlot: p.sync.AcquireCommandSlot,
		History: writer, Instance: instance, BaseURL: p.url, Resync: p.sync.SyncNow,
		ConnectURL: func(_ context.Context, _ connectors.TenantID, c connectors.Connector, _ connectors.Agent, _ string) string {
			if p.panics.Load() {
				panic("of a test")
			}
			return p.url + "/connect/" + c.Slug
		},
		AccountPage: p.page,
	}
	for _, opt := range opts {
		opt(&o)
	}
	p.caller = toolcall.New(o)
	p.handler = gateway.New(gateway.Options{Store: st, Access: p.access, Caller: p.caller, BaseURL: base, Version: "test", AccountPageURL: p.page})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		p.handler.CloseStreams()
		p.caller.Stop(ctx)
		p.handler.Stop(ctx)
		writer.Stop(ctx)
		p.sync.Stop(ctx)
	})
}

// run receives database notices.
func (p *testProcess) run(t testing.TB, st *store.Store) {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	var tasks sync.WaitGroup
	t.Cleanup(func() { end(); tasks.Wait() })
	listens := make(chan struct{})
	heard := sync.OnceFunc(func() { close(listens) })
	p.caller.Start(ctx)
	tasks.Go(func() { p.access.Run(ctx) })
	tasks.Go(func() {
		_ = st.Watch(ctx, func(n store.ChangeEvent) {
			p.access.OnNotify(n)
			p.caller.OnNotify(n)
			if n.Kind != "mail" || !p.losesMail.Load() {
				p.handler.OnNotify(n)
			}
		}, func(yes bool) {
			p.access.SetConnected(yes)
			p.caller.SetConnected(yes)
			p.handler.Connected(yes)
			heard()
		})
	})
	<-listens
}

// newAutoAgent creates an agent without approvals.
func (b *testEnv) newAutoAgent(t testing.TB, opts ...func(*connectors.Agent)) connectors.Agent {
	t.Helper()
	return b.Agent(t, append([]func(*connectors.Agent){func(a *connectors.Agent) { a.Approval = connectors.ApprovalAuto }}, opts...)...)
}

// newConnector creates a connector and syncs it.
func (b *testEnv) newConnector(t testing.TB, slug, url string, opts ...func(*connectors.Draft)) connectors.Connector {
	t.Helper()
	c := b.Connector(t, append([]func(*connectors.Draft){func(d *connectors.Draft) {
		d.Slug, d.Name, d.URL, d.RetryAttempts, d.Timeout = slug, slug, url, 0, patience
	}}, opts...)...)
	b.syncConnector(t, c)
	return c
}

func (b *testEnv) syncConnector(t testing.TB, c connectors.Connector) {
	t.Helper()
	req := toolsync.Request{Connector: connectors.Ref(c.ID.String()), Trigger: connectors.TriggerManual}
	if _, err := b.sync.Sync(t.Context(), b.Tenant, req); err != nil {
		t.Fatalf("sync %s: %v", c.Slug, err)
	}
}

// era is the newest revision that the client speaks.
type era string

const (
	modern era = "2026-07-28"
	legacy era = "2025-11-25"
)

var eras = []era{modern, legacy}

func connect(t testing.TB, address string, token secret.Text, e era, opts ...func(*sdk.ClientOptions)) *sdk.ClientSession {
	t.Helper()
	var o sdk.ClientOptions
	for _, opt := range opts {
		opt(&o)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, &o)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: address, HTTPClient: &http.Client{Transport: tokenTransport{token, testclient.New(t).Transport}},
	}, &sdk.ClientSessionOptions{ProtocolVersion: string(e)})
	if err != nil {
		t.Fatalf("connect %s in %s: %v", address, e, err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// tokenTransport sends an agent's token with each request.
type tokenTransport struct {
	token secret.Text
	next  http.RoundTripper
}

func (w tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token.Reveal())
	return w.next.RoundTrip(r)
}

// upstream is an SDK server that records the Authorization header of each request.
type upstream struct {
	*sdk.Server
	url string

	mu   sync.Mutex // guards seen
	seen map[string]int
}

func newUpstream(t testing.TB, options sdk.StreamableHTTPOptions) *upstream {
	t.Helper()
	u := &upstream{seen: map[string]int{}}
	u.Server = sdk.NewServer(&sdk.Implementation{Name: "peer", Version: "v1", Title: "A peer"}, &sdk.ServerOptions{
		Instructions:       "Be kind.",
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
		CompletionHandler: func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{"blue"}}}, nil
		},
	})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return u.Server }, &options)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		u.seen[r.Header.Get("Authorization")]++
		u.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	closeAtEnd(t, front)
	u.url = front.URL
	return u
}

func (u *upstream) authorizations() map[string]int {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := u.seen
	u.seen = map[string]int{}
	return all
}

// closeAtEnd closes a server and its open streams at the end of the test.
func closeAtEnd(t testing.TB, s *httptest.Server) {
	t.Helper()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
}

// page returns the URL where a person connects an account.
func (p *testProcess) page(_ context.Context, _ connectors.TenantID, c connectors.Connector, a connectors.Agent, _ string) string {
	return p.url + "/account/connections/" + a.Slug + "/" + c.Slug
}
