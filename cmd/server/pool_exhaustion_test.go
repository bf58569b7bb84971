package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/installation"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/secret"
	"patchbay/internal/testing/fixture"
)

// Numbers of hanging requests: agents' calls, syncs that programs wait for, and scheduled syncs.
const (
	hangingCalls = 300
	hangingSyncs = 24
	hangingDue   = 24
)

// starveTimeout bounds the waits of the test.
const starveTimeout = 2 * time.Minute

// hangingServer is a server whose lists and calls hang until it is opened.
type hangingServer struct {
	*mcptest.Server
	in   chan string // a method for each hanging request
	open chan struct{}
}

func newTrap(t *testing.T) *hangingServer {
	t.Helper()
	p := &hangingServer{in: make(chan string, 2*(hangingCalls+hangingSyncs+hangingDue)), open: make(chan struct{})}
	p.Server = mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"tools/list": p.hold(mcptest.ListResult(mcptest.Tool("a"))),
		"tools/call": p.hold(callAnswer("it was slow")),
	}})
	return p
}

func (p *hangingServer) hold(then mcptest.Handler) mcptest.Handler {
	return func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		p.in <- c.Method
		select {
		case <-p.open:
			then(w, r, c)
		case <-r.Context().Done():
		}
	}
}

// awaitRequests waits until n requests hang.
func (p *hangingServer) awaitRequests(t *testing.T, method string, n int) {
	t.Helper()
	late := time.After(starveTimeout)
	for i := range n {
		select {
		case got := <-p.in:
			if got != method {
				t.Fatalf("a %s came, and %s is what should", got, method)
			}
		case <-late:
			t.Fatalf("%d of %d %s have come", i, n, method)
		}
	}
}

func callAnswer(text string) mcptest.Handler {
	return mcptest.Answer("application/json", func(c mcptest.Call) string {
		return mcptest.Result(c, fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, text))
	})
}

// loadedApp is the program with its background work, and its clients.
type loadedApp struct {
	*app
	world   *fixture.World
	base    string
	client  *http.Client
	key     string
	session string
}

func serveHandlers(t *testing.T) *loadedApp {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := newAppAt(t, listener.Addr())
	ctx, end := context.WithCancel(context.Background())
	stopWork, err := h.run.startJobs(ctx, h.database, h)
	if err != nil {
		t.Fatal(err)
	}
	stopAgents, served := h.agents.start(ctx, h.database.Store), make(chan error, 1)
	go func() { served <- h.run.serveRequests(ctx, listener, h) }()
	t.Cleanup(func() {
		end()
		if err := <-served; err != nil {
			t.Error(err)
		}
		stopAgents()
		h.stopSyncer(ctx)
		if err := stopWork(); err != nil {
			t.Error(err)
		}
		h.waitForTokenRefreshes(ctx)
	})
	u := &loadedApp{app: h, base: "http://" + listener.Addr().String(), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: hangingCalls}}}
	t.Cleanup(u.client.CloseIdleConnections)
	u.people(t)
	return u
}

// people creates a program's key and a person's session.
func (u *loadedApp) people(t *testing.T) {
	t.Helper()
	ctx, st := t.Context(), u.database.Store
	tenant, err := st.System().TenantByRef(ctx, installation.FirstTenant)
	if err != nil {
		t.Fatal(err)
	}
	u.world = &fixture.World{St: st, Pool: u.database.Pool, Tenant: tenant.ID, Keyring: st.Keyring(), Instance: u.instance}
	_, key, err := u.auth.IssueKey(ctx, auth.Operator(tenant), auth.KeyRequest{Name: "test", Role: connectors.RoleAdmin})
	if err != nil {
		t.Fatal(err)
	}
	u.key = key.Reveal()
	sessions := u.auth.Sessions()
	if ctx, err = sessions.Load(ctx, ""); err != nil {
		t.Fatal(err)
	}
	if err := u.auth.StartSession(ctx, u.world.Member(t, connectors.RoleAdmin).UserID, auth.Browser{}); err != nil {
		t.Fatal(err)
	}
	if u.session, _, err = sessions.Commit(ctx); err != nil {
		t.Fatal(err)
	}
}

// at creates a connector to a server, scheduled or not.
func (u *loadedApp) at(t *testing.T, server *mcptest.Server, name string, every time.Duration) connectors.Connector {
	t.Helper()
	return u.world.Connector(t, func(d *connectors.Draft) {
		d.Slug, d.Name, d.URL, d.SyncInterval = name, name, server.URL, every
		d.RetryAttempts, d.Timeout, d.Listen = 0, starveTimeout, connectors.ListenOff
	})
}

// callable returns an agent's token for the tool a of a connector.
func (u *loadedApp) callable(t *testing.T, c connectors.Connector) secret.Text {
	t.Helper()
	agent := u.world.Agent(t, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAuto })
	u.world.Synced(t, c.ID, "a")
	u.world.Grant(t, agent.ID, c.ID)
	return u.world.Token(t, agent.ID)
}

func (u *loadedApp) answer(r *http.Request) (int, string) {
	res, err := u.client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(body)
}

func (u *loadedApp) request(t *testing.T, method, path, body string, header ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, u.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func (u *loadedApp) program(t *testing.T, method, path, body string) *http.Request {
	t.Helper()
	return u.request(t, method, path, body, "Authorization", "Bearer "+u.key)
}

func (u *loadedApp) person(t *testing.T, path string) *http.Request {
	t.Helper()
	r := u.request(t, http.MethodGet, path, "")
	r.AddCookie(&http.Cookie{Name: u.auth.Sessions().Cookie.Name, Value: u.session})
	return r
}

func (u *loadedApp) call(t *testing.T, token secret.Text, tool string) *http.Request {
	t.Helper()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	return u.request(t, http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":{},`+meta+`}}`,
		"Authorization", "Bearer "+token.Reveal(), "Accept", "application/json, text/event-stream",
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
}

// rests waits until no connection of the pool is in use.
func (u *loadedApp) rests(t *testing.T) {
	t.Helper()
	late, again := time.After(starveTimeout), time.NewTicker(time.Millisecond)
	defer again.Stop()
	for u.database.Pool.Stat().AcquiredConns() > 0 {
		select {
		case <-again.C:
		case <-late:
			t.Fatalf("%d connections are in use while every request hangs", u.database.Pool.Stat().AcquiredConns())
		}
	}
}

// answersAll sends one request of each kind at once.
func (u *loadedApp) answersAll(t *testing.T, quick secret.Text, round int) {
	t.Helper()
	var asked sync.WaitGroup
	for _, ask := range []struct {
		name, says string
		request    *http.Request
	}{
		{"the dashboard", "</html>", u.person(t, "/")},
		{"the list of connectors", "asked-1", u.person(t, "/connectors")},
		{"a connector that hangs", "asked-1", u.person(t, "/connectors/asked-1")},
		{"the API", `"items"`, u.program(t, http.MethodGet, "/api/v1/connectors", "")},
		{"a change by the API", "round", u.program(t, http.MethodPatch, "/api/v1/connectors/quick", fmt.Sprintf(`{"description":"round %d"}`, round))},
		{"another agent's call", "it is well", u.call(t, quick, "mcp_quick__a")},
		{"a proxy's look", "", u.request(t, http.MethodGet, "/readyz", "")},
	} {
		asked.Go(func() {
			if status, body := u.answer(ask.request); status != http.StatusOK || !strings.Contains(body, ask.says) {
				t.Errorf("%s is answered %d: %.300s", ask.name, status, body)
			}
		})
	}
	asked.Wait()
}

func TestHangingServers_DoNotExhaustPool(t *testing.T) {
	t.Parallel()
	u, calls, syncs := serveHandlers(t), newTrap(t), newTrap(t)
	due := []*hangingServer{newTrap(t), newTrap(t)}
	well := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/call": callAnswer("it is well")}})
	slow, quick := u.callable(t, u.at(t, calls.Server, "slow", 0)), u.callable(t, u.at(t, well, "quick", 0))

	var waiting sync.WaitGroup
	later := func(r *http.Request, want string) {
		waiting.Go(func() {
			if status, body := u.answer(r); status != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("%s: %d %s", r.URL.Path, status, body)
			}
		})
	}
	for range hangingCalls {
		later(u.call(t, slow, "mcp_slow__a"), "it was slow")
	}
	for i := range hangingSyncs {
		c := u.at(t, syncs.Server, fmt.Sprintf("asked-%d", i), 0)
		later(u.program(t, http.MethodPost, "/api/v1/connectors/"+c.Slug+"/sync_tools", ""), `"ok"`)
	}
	for i := range hangingDue {
		u.at(t, due[i%len(due)].Server, fmt.Sprintf("due-%d", i), time.Hour)
	}
	u.world.MakeDue(t)
	calls.awaitRequests(t, "tools/call", hangingCalls)
	syncs.awaitRequests(t, "tools/list", hangingSyncs)
	for _, p := range due {
		p.awaitRequests(t, "tools/list", hangingDue/len(due))
	}
	u.rests(t)

	for round := range 10 {
		u.answersAll(t, quick, round)
	}
	u.rests(t)
	for _, p := range append(due, calls, syncs) {
		close(p.open)
	}
	waiting.Wait()
}
