package toolcall_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/auth"
	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolcall"
)

// remote is an MCP server of revision 2025-11-25. By default a call returns the tool's name.
type remote struct {
	http *httptest.Server

	mu        sync.Mutex // guards the fields below
	calls     int        // tools/call
	requests  int
	bearers   map[string]int // calls by Authorization header
	greeting  int            // JSON-RPC error of initialize; 0: none
	answer    func(w http.ResponseWriter, r *http.Request, m message) (answered bool)
	arrived   chan message // calls
	cancelled chan struct{}
}

type message struct {
	Method string
	ID     json.RawMessage
	Params json.RawMessage
	Result json.RawMessage
	Error  struct{ Code int }
}

func newRemote(t testing.TB) *remote {
	s := &remote{bearers: map[string]int{}, arrived: make(chan message, 1000), cancelled: make(chan struct{}, 100)}
	s.http = httptest.NewServer(s)
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

func (s *remote) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m message
	_ = json.NewDecoder(r.Body).Decode(&m)
	s.mu.Lock()
	s.requests++
	answer, greeting := s.answer, s.greeting
	if m.Method == "tools/call" {
		s.calls++
		s.bearers[r.Header.Get("Authorization")]++
	}
	s.mu.Unlock()
	switch {
	case r.Method != http.MethodPost:
		if r.Method != http.MethodGet || answer == nil || !answer(w, r, m) {
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	case greeting != 0:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"unknown"}}`, m.ID, greeting)
	case m.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", "session")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s"}}}`, m.ID)
	case m.Method == "notifications/cancelled":
		s.cancelled <- struct{}{}
		w.WriteHeader(http.StatusAccepted)
	case m.ID == nil || m.Method == "":
		if answer == nil || !answer(w, r, m) {
			w.WriteHeader(http.StatusAccepted)
		}
	default:
		s.respond(w, r, m, answer)
	}
}

func (s *remote) respond(w http.ResponseWriter, r *http.Request, m message, answer func(http.ResponseWriter, *http.Request, message) bool) {
	if m.Method == "tools/call" {
		select {
		case s.arrived <- m:
		default:
		}
	}
	if answer != nil && answer(w, r, m) {
		return
	}
	var params struct{ Name string }
	_ = json.Unmarshal(m.Params, &params)
	reply(w, m, fmt.Sprintf(`{"content":[{"type":"text","text":%q}], "extra" : 12345678901234567890}`, params.Name))
}

func reply(w http.ResponseWriter, m message, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// hangRequest blocks until the client disconnects.
func hangRequest(_ http.ResponseWriter, r *http.Request, m message) bool {
	if m.Method != "tools/call" {
		return false
	}
	<-r.Context().Done()
	return true
}

func (s *remote) set(answer func(w http.ResponseWriter, r *http.Request, m message) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// refuseGreetings answers everything with a JSON-RPC error.
func (s *remote) refuseGreetings(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.greeting = code
}

func (s *remote) requestCounts() (calls, requests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls, s.requests
}

// callsWith counts the calls with an Authorization header.
func (s *remote) callsWith(authorization string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bearers[authorization]
}

func (s *remote) wantCalls(t testing.TB, want int) {
	t.Helper()
	if n, _ := s.requestCounts(); n != want {
		t.Errorf("%d calls arrived, want %d", n, want)
	}
}

// clock is the real time plus what advance added.
type clock struct {
	mu  sync.Mutex
	add time.Duration // guarded by mu
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.add)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add += d
}

// bench is a world with a server and a gateway process.
type bench struct {
	*fixture.World
	remote *remote
	*process
	clock *clock
}

// process is one gateway process with its notifications.
type process struct {
	*toolcall.Executor
	instance  connectors.InstanceID
	keeper    *agentview.Cache
	history   *calllog.Writer
	tokens    *credentials.Resolver
	uses      chan string // published uses of limits
	losesMail atomic.Bool // notices of mail are lost
	stop      func()
}

func newBench(t testing.TB, opts ...func(*toolcall.Options)) *bench {
	t.Helper()
	b := &bench{World: fixture.New(t), remote: newRemote(t), clock: &clock{}}
	b.process = b.newProcess(t, b.Instance, opts...)
	return b
}

// newProcess is another process on the same database.
func (b *bench) newProcess(t testing.TB, instance connectors.InstanceID, opts ...func(*toolcall.Options)) *process {
	t.Helper()
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	p := &process{instance: instance, uses: make(chan string, 100), keeper: agentview.New(agentview.Options{Store: b.St, Now: b.clock.now})}
	p.tokens = credentials.NewRefreshing(credentials.Options{Store: b.St, OAuth: &oauth.Client{HTTP: egress.Client(), CheckURL: egress.CheckURL}})
	p.history = calllog.New(calllog.Options{Store: b.St, Instance: instance, Interval: 10 * time.Millisecond})
	o := toolcall.Options{
		Store: b.St, Access: p.keeper, Credentials: p.tokens, Dialer: &mcp.Dialer{HTTP: egress.Client(), Version: "test"}, Target: newTarget,
		History: p.history, Instance: instance, BaseURL: "https://patchbay.example.com", Now: b.clock.now,
	}
	for _, opt := range opts {
		opt(&o)
	}
	p.Executor = toolcall.New(o)
	b.watchStore(t, p)
	p.stop = sync.OnceFunc(func() {
		stopCtx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		p.Executor.Stop(stopCtx)
		p.history.Stop(stopCtx)
		egress.Client().CloseIdleConnections()
	})
	t.Cleanup(p.stop)
	return p
}

func (b *bench) watchStore(t testing.TB, p *process) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	connected := make(chan struct{})
	var once sync.Once
	running.Go(func() { p.keeper.Run(ctx) })
	running.Go(func() {
		_ = b.St.Watch(ctx, func(n store.ChangeEvent) {
			p.keeper.OnNotify(n)
			if n.Kind != "mail" || !p.losesMail.Load() {
				p.OnNotify(n)
			}
			if n.Kind == store.NoticeUses {
				p.uses <- n.ID
			}
		}, func(isConnected bool) {
			p.keeper.SetConnected(isConnected)
			p.SetConnected(isConnected)
			if isConnected {
				once.Do(func() { close(connected) })
			}
		})
	})
	receive(t, connected)
}

// newInstance is an instance that stays alive.
func (b *bench) newInstance(t testing.TB) connectors.InstanceID {
	t.Helper()
	id := fixture.NewInstance()
	must(t, b.St.System().Syncs().Heartbeat(t.Context(), id))
	_, err := b.Pool.Exec(t.Context(), "update instances set beat_at = now() + interval '1 hour' where id = $1", id)
	must(t, err)
	return id
}

func newTarget(_ context.Context, _ connectors.TenantID, c connectors.Connector, headers []credentials.Header) (mcp.Target, error) {
	h := http.Header{}
	credentials.Apply(h, headers)
	return mcp.Target{URL: c.URL, Header: h, Timeout: c.Timeout, Era: mcp.EraHandshake}, nil
}

// connector is a new connector with tools, prompts and a resource.
func (b *bench) connector(t testing.TB, server *remote, opts ...func(*connectors.Draft)) connectors.Connector {
	t.Helper()
	c := b.Connector(t, append([]func(*connectors.Draft){func(d *connectors.Draft) {
		d.URL, d.Auth.Type = server.http.URL+"/mcp", connectors.AuthNone
	}}, opts...)...)
	b.syncTools(t, c, `{"name":"search","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}}`,
		`{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`)
	items := []connectors.Item{
		{Kind: connectors.ItemPrompt, Key: "greet", Raw: []byte(`{"name":"greet"}`)},
		{Kind: connectors.ItemPrompt, Key: "p", Raw: []byte(`{"name":"p"}`)},
		{Kind: connectors.ItemResource, Key: "file:///a", Raw: []byte(`{"uri":"file:///a","name":"a"}`)},
	}
	_, err := b.Door().Connectors().SaveItems(t.Context(), c.ID, connectors.HashItems(items), items)
	must(t, err)
	return c
}

func (b *bench) syncTools(t testing.TB, c connectors.Connector, raws ...string) {
	t.Helper()
	var defs []connectors.Definition
	for _, raw := range raws {
		var named struct{ Name string }
		must(t, json.Unmarshal([]byte(raw), &named))
		defs = append(defs, fixture.DefinitionOf(named.Name, raw))
	}
	run := b.Run(t, c.ID)
	_, err := b.Door().Syncs().Finish(t.Context(), run.ID, fixture.FirstResult(defs...))
	must(t, err)
}

func perAgent(d *connectors.Draft) {
	d.CredentialMode, d.Auth.Type = connectors.CredentialPerAgent, connectors.AuthBearer
}

func (b *bench) saveCredential(t testing.TB, c connectors.Connector, agent *connectors.AgentID, s connectors.Secret) {
	t.Helper()
	text, err := s.Encode()
	must(t, err)
	must(t, b.Door().Connectors().SetCredential(t.Context(), store.NewCredential{
		ConnectorID: c.ID, AgentID: agent, Type: c.Auth.Type, Origin: connectors.Origin(c.URL), Secret: text,
	}))
}

// newTrustedAgent is an agent with a grant and without approval.
func (b *bench) newTrustedAgent(t testing.TB, c connectors.Connector, opts ...func(*connectors.Agent)) connectors.Agent {
	t.Helper()
	return b.newGrantedAgent(t, c, append([]func(*connectors.Agent){func(a *connectors.Agent) { a.Approval = connectors.ApprovalAuto }}, opts...)...)
}

func (b *bench) newGrantedAgent(t testing.TB, c connectors.Connector, opts ...func(*connectors.Agent)) connectors.Agent {
	t.Helper()
	a := b.Agent(t, opts...)
	must(t, b.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: a.ID, ConnectorID: c.ID, AllTools: true}))
	return a
}

// request is a call of the connector's tool with the process's current view.
func (b *bench) order(t testing.TB, p *process, a connectors.Agent, c connectors.Connector, tool, arguments string) toolcall.CallRequest {
	t.Helper()
	view, err := p.keeper.ByAgent(t.Context(), b.Tenant, connectors.Ref(a.ID.String()))
	must(t, err)
	connector := view.Connector(c.Slug)
	if connector == nil || connector.Tool(tool) == nil {
		t.Fatalf("no tool %s", tool)
	}
	return toolcall.CallRequest{View: view, Tool: connector.Tool(tool), Arguments: json.RawMessage(arguments), Source: connectors.SourceGateway}
}

func (b *bench) call(t testing.TB, a connectors.Agent, c connectors.Connector, arguments string) (toolcall.Outcome, error) {
	t.Helper()
	return b.Call(t.Context(), b.order(t, b.process, a, c, "search", arguments))
}

// actor is a person with this role.
func (b *bench) actor(role connectors.Role) auth.Actor {
	return auth.Actor{Kind: auth.KindPerson, Tenant: connectors.Tenant{ID: b.Tenant}, Role: role, Name: "Dana"}
}

// row is the stored call, after pending writes.
func (b *bench) row(t testing.TB, id connectors.ToolCallID) connectors.ToolCall {
	t.Helper()
	b.history.Flush(t.Context())
	c, err := b.Door().Calls().Get(t.Context(), id)
	must(t, err)
	return c
}

// wantRefused checks for a refusal with a code and a sentence.
func wantRefused(t testing.TB, err error, code toolcall.Code) {
	t.Helper()
	asRefusal(t, err, code)
}

// asRefusal returns the refusal with a code and a sentence.
func asRefusal(t testing.TB, err error, code toolcall.Code) (r toolcall.RefusalError) {
	t.Helper()
	found, ok := errors.AsType[*toolcall.RefusalError](err)
	if !ok || found.Code != code || found.Sentence == "" {
		t.Fatalf("err = %v, want a refusal %s", err, code)
	}
	return *found
}

// patience bounds each wait of a test.
const patience = 2 * time.Minute

// receive returns what comes from a channel, and fails the test if nothing comes.
func receive[T any](t testing.TB, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatalf("nothing came within %s", patience)
	}
	return v
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
