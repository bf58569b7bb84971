package upstream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolcall/upstream"
)

// server is an MCP server with session ids. It records the tokens of each session.
type server struct {
	http *httptest.Server

	mu       sync.Mutex // guards the fields below
	tokens   map[string][]string
	opened   int
	requests int
	deleted  chan string
	arrived  chan struct{} // one for each call
	refuse   func(method string) (status int, body string)
	hold     chan struct{} // nil: calls return at once

	stateless bool // no session ids
}

func newServer(t testing.TB) *server {
	s := &server{tokens: map[string][]string{}, deleted: make(chan string, 1000), arrived: make(chan struct{}, 1000)}
	s.http = httptest.NewServer(s)
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		Method string
		ID     json.RawMessage
	}
	_ = json.NewDecoder(r.Body).Decode(&m)
	id, token := r.Header.Get("Mcp-Session-Id"), r.Header.Get("Authorization")
	s.mu.Lock()
	s.requests++
	if m.Method == "initialize" {
		s.opened++
		id = fmt.Sprintf("secret-session-%d", s.opened)
	}
	if !slices.Contains(s.tokens[id], token) {
		s.tokens[id] = append(s.tokens[id], token)
	}
	refuse, hold, stateless := s.refuse, s.hold, s.stateless
	s.mu.Unlock()
	switch {
	case r.Method == http.MethodDelete:
		s.deleted <- id
	case m.Method == "initialize":
		if !stateless {
			w.Header().Set("Mcp-Session-Id", id)
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s"}}}`, m.ID)
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		s.answer(w, r, m.ID, refuse, hold)
	}
}

func (s *server) answer(w http.ResponseWriter, r *http.Request, id json.RawMessage, refuse func(string) (int, string), hold chan struct{}) {
	s.arrived <- struct{}{}
	if refuse != nil {
		if status, body := refuse(r.Header.Get("Mcp-Session-Id")); status != 0 {
			http.Error(w, body, status)
			return
		}
	}
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, id)
}

func (s *server) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// openedSessions is the number of opened sessions. Each must have used one token only.
func (s *server) openedSessions(t testing.TB) int {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, tokens := range s.tokens {
		if len(tokens) > 1 && id != "" {
			t.Errorf("%s was used with %v", id, tokens)
		}
	}
	return s.opened
}

func (s *server) wantDeleted(t testing.TB, ids ...string) {
	t.Helper()
	for range ids {
		select {
		case id := <-s.deleted:
			if !slices.Contains(ids, id) {
				t.Errorf("%s was ended", id)
			}
		case <-time.After(time.Minute):
			t.Fatalf("not ended: some of %v", ids)
		}
	}
	select {
	case id := <-s.deleted:
		t.Errorf("%s was ended, too", id)
	default:
	}
}

// clock stands still until advance.
type clock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// bench is a pool with a server and a database.
type bench struct {
	*fixture.World
	server *server
	tokens *credentials.Resolver
	pool   *upstream.Pool
	clock  *clock
}

func newBench(t testing.TB, opts ...func(*upstream.Options)) *bench {
	t.Helper()
	b := &bench{World: fixture.New(t), server: newServer(t), clock: &clock{now: time.Now()}}
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	t.Cleanup(egress.Client().CloseIdleConnections)
	b.tokens = credentials.NewRefreshing(credentials.Options{
		Store: b.St, OAuth: &oauth.Client{HTTP: egress.Client(), CheckURL: egress.CheckURL},
	})
	dialer := &mcp.Dialer{HTTP: egress.Client(), Version: "test"}
	o := upstream.Options{Store: b.St, Dialer: dialer, Credentials: b.tokens, Target: newTarget, Now: b.clock.time}
	for _, opt := range opts {
		opt(&o)
	}
	b.pool = upstream.New(o)
	t.Cleanup(func() {
		stopCtx, cancel := context.WithCancel(context.Background())
		cancel()
		b.pool.Stop(stopCtx)
	})
	return b
}

func newTarget(_ context.Context, _ connectors.TenantID, c connectors.Connector, headers []credentials.Header) (mcp.Target, error) {
	h := http.Header{}
	credentials.Apply(h, headers)
	return mcp.Target{URL: c.URL, Header: h, Timeout: c.Timeout, Era: mcp.Era(c.Era)}, nil
}

// newConnector is a connector with bearer tokens.
func (b *bench) newConnector(t testing.TB, tenant connectors.TenantID, opts ...func(*connectors.Draft)) connectors.Connector {
	t.Helper()
	c := b.ConnectorIn(t, tenant, append([]func(*connectors.Draft){func(d *connectors.Draft) {
		d.URL, d.Auth.Type = b.server.http.URL+"/mcp", connectors.AuthBearer
	}}, opts...)...)
	c.Era = string(mcp.EraHandshake)
	return c
}

func perAgent(d *connectors.Draft) { d.CredentialMode = connectors.CredentialPerAgent }

func (b *bench) saveCredential(t testing.TB, tenant connectors.TenantID, c connectors.Connector, agent *connectors.AgentID, s connectors.Secret) {
	t.Helper()
	text, err := s.Encode()
	must(t, err)
	must(t, b.St.Tenant(tenant).Connectors().SetCredential(t.Context(), store.NewCredential{
		ConnectorID: c.ID, AgentID: agent, Type: c.Auth.Type, Origin: connectors.Origin(c.URL), Secret: text,
	}))
	b.pool.InvalidateCredentials(tenant, c.ID) // as after a notification
}

// newSharedConnector is a connector of b.Tenant with a shared token.
func (b *bench) newSharedConnector(t testing.TB) connectors.Connector {
	t.Helper()
	c := b.newConnector(t, b.Tenant)
	b.saveCredential(t, b.Tenant, c, nil, connectors.Secret{Token: "one"})
	return c
}

func (b *bench) newRequest(c connectors.Connector) upstream.SessionRequest {
	return upstream.SessionRequest{Tenant: b.Tenant, Connector: c}
}

// call uses a session for one tool call.
func (b *bench) call(ctx context.Context, w upstream.SessionRequest) error {
	return b.pool.Use(ctx, w, func(s *mcp.Session) error {
		_, err := s.Call(ctx, mcp.Call{Name: "tool"})
		return err
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
