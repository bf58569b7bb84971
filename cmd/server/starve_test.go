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
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/secret"
	"patchbay/internal/testing/fixture"
)

// What hangs at the same time: agents' calls, syncs that programs wait for, and syncs that are due by themselves.
const (
	hangingCalls = 300
	hangingSyncs = 24
	hangingDue   = 24
)

// mostTaken is how many of the pool's 16 connections those who ask at once take meanwhile, with what works by itself.
const mostTaken = 12

// starvePatience is how long the test waits for what certainly comes.
const starvePatience = 2 * time.Minute

// trap is a server whose tools and calls are not answered until it is opened.
type trap struct {
	*mcptest.Server
	in   chan string // a method for each request that waits
	open chan struct{}
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	p := &trap{in: make(chan string, 2*(hangingCalls+hangingSyncs+hangingDue)), open: make(chan struct{})}
	p.Server = mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"tools/list": p.hold(mcptest.ListResult(mcptest.Tool("a"))),
		"tools/call": p.hold(callAnswer("it was slow")),
	}})
	return p
}

func (p *trap) hold(then mcptest.Handler) mcptest.Handler {
	return func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		p.in <- c.Method
		select {
		case <-p.open:
			then(w, r, c)
		case <-r.Context().Done():
		}
	}
}

// await waits until so many requests hang.
func (p *trap) await(t *testing.T, method string, n int) {
	t.Helper()
	late := time.After(starvePatience)
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

// inUse is the whole program at an address, with all that works by itself, and who asks it.
type inUse struct {
	*house
	world   *fixture.World
	base    string
	client  *http.Client
	key     string
	session string
}

func serveHouse(t *testing.T) *inUse {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := newHouseAt(t, listener.Addr())
	ctx, end := context.WithCancel(context.Background())
	stopWork, err := h.serving.startWork(ctx, h.database, h)
	if err != nil {
		t.Fatal(err)
	}
	stopAgents, served := h.agents.start(ctx, h.database.store), make(chan error, 1)
	go func() { served <- h.serving.serve(ctx, listener, h) }()
	t.Cleanup(func() {
		end()
		if err := <-served; err != nil {
			t.Error(err)
		}
		stopAgents()
		h.endInstance(ctx)
		if err := stopWork(); err != nil {
			t.Error(err)
		}
		h.endRenewals(ctx)
	})
	u := &inUse{house: h, base: "http://" + listener.Addr().String(), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: hangingCalls}}}
	t.Cleanup(u.client.CloseIdleConnections)
	u.people(t)
	return u
}

// people makes a program's key and a person's session.
func (u *inUse) people(t *testing.T) {
	t.Helper()
	ctx, st := t.Context(), u.database.store
	tenant, err := st.System().TenantByRef(ctx, firstTenant)
	if err != nil {
		t.Fatal(err)
	}
	u.world = &fixture.World{St: st, Pool: u.database.pool, Tenant: tenant.ID, Keyring: st.Keyring(), Instance: u.instance}
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

// at makes a connector to a server, synced by itself or not.
func (u *inUse) at(t *testing.T, server *mcptest.Server, name string, every time.Duration) connectors.Connector {
	t.Helper()
	return u.world.Connector(t, func(d *connectors.Draft) {
		d.Slug, d.Name, d.URL, d.SyncInterval = name, name, server.URL, every
		d.RetryAttempts, d.Timeout, d.Listen = 0, starvePatience, connectors.ListenOff
	})
}

// callable is an agent's token, for the tool a of a connector.
func (u *inUse) callable(t *testing.T, c connectors.Connector) secret.Text {
	t.Helper()
	agent := u.world.Agent(t, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAuto })
	u.world.Synced(t, c.ID, "a")
	u.world.Grant(t, agent.ID, c.ID)
	return u.world.Token(t, agent.ID)
}

func (u *inUse) answer(r *http.Request) (int, string) {
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

func (u *inUse) request(t *testing.T, method, path, body string, header ...string) *http.Request {
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

func (u *inUse) program(t *testing.T, method, path, body string) *http.Request {
	t.Helper()
	return u.request(t, method, path, body, "Authorization", "Bearer "+u.key)
}

func (u *inUse) person(t *testing.T, path string) *http.Request {
	t.Helper()
	r := u.request(t, http.MethodGet, path, "")
	r.AddCookie(&http.Cookie{Name: u.auth.Sessions().Cookie.Name, Value: u.session})
	return r
}

func (u *inUse) call(t *testing.T, token secret.Text, tool string) *http.Request {
	t.Helper()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	return u.request(t, http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":{},`+meta+`}}`,
		"Authorization", "Bearer "+token.Reveal(), "Accept", "application/json, text/event-stream",
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
}

// rests waits for a moment at which nobody has a connection in hand.
func (u *inUse) rests(t *testing.T) {
	t.Helper()
	late, again := time.After(starvePatience), time.NewTicker(time.Millisecond)
	defer again.Stop()
	for u.database.pool.Stat().AcquiredConns() > 0 {
		select {
		case <-again.C:
		case <-late:
			t.Fatalf("%d connections are taken, and nobody asks for anything", u.database.pool.Stat().AcquiredConns())
		}
	}
}

// taken is how many connections were in hands at once until stop is called.
func (u *inUse) taken() (stop func() int32) {
	done, most := make(chan struct{}), make(chan int32)
	go func() {
		seen, again := int32(0), time.NewTicker(time.Millisecond)
		defer again.Stop()
		for {
			select {
			case <-again.C:
				seen = max(seen, u.database.pool.Stat().AcquiredConns())
			case <-done:
				most <- seen
				return
			}
		}
	}()
	return func() int32 {
		close(done)
		return <-most
	}
}

// answersAll asks for what everybody may ask for, all at once.
func (u *inUse) answersAll(t *testing.T, quick secret.Text, round int) {
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

func TestServersThatHangLeaveTheDatabaseToTheOthers(t *testing.T) {
	t.Parallel()
	u, calls, syncs := serveHouse(t), newTrap(t), newTrap(t)
	due := []*trap{newTrap(t), newTrap(t)}
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
	calls.await(t, "tools/call", hangingCalls)
	syncs.await(t, "tools/list", hangingSyncs)
	for _, p := range due {
		p.await(t, "tools/list", hangingDue/len(due))
	}
	u.rests(t)

	stop := u.taken()
	for round := range 10 {
		u.answersAll(t, quick, round)
	}
	most, stat := stop(), u.database.pool.Stat()
	t.Logf("%d calls and %d syncs hang; at most %d of %d connections were taken", hangingCalls, hangingSyncs+hangingDue, most, stat.MaxConns())
	if most > mostTaken {
		t.Errorf("%d connections were taken at once", most)
	}
	u.rests(t)
	for _, p := range append(due, calls, syncs) {
		close(p.open)
	}
	waiting.Wait()
}
