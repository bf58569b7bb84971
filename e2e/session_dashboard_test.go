//go:build e2e

package e2e_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/testing/browser"
)

// forgetful is a server with sessions that may lose all of them, as one does that is started anew, also in the middle of a call.
type forgetful struct {
	url     string
	handler atomic.Pointer[sdk.StreamableHTTPHandler]
	started atomic.Int64  // sessions
	begun   chan struct{} // one of the calls that take long has begun
	over    chan struct{} // closed at the end of the test

	mu   sync.Mutex
	life context.Context // guarded by mu: of all that is under way
	die  context.CancelFunc
	ran  map[string]int // guarded by mu: how often each of the long tools was called
}

func newForgetful(t *testing.T) *forgetful {
	t.Helper()
	f := &forgetful{begun: make(chan struct{}, 10), over: make(chan struct{}), ran: map[string]int{}}
	f.forget()
	f.url = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Session-Id") == "" && r.Method == http.MethodPost {
			f.started.Add(1)
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(f.lives(), cancel)()
		f.handler.Load().ServeHTTP(w, r.WithContext(ctx))
	}))
	t.Cleanup(func() {
		close(f.over)
		f.forget()
	})
	return f
}

func (f *forgetful) lives() context.Context {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.life
}

// forget loses all sessions and their requests: a waiting client gets no response, and a request with an old
// session gets 404.
func (f *forgetful) forget() {
	server := sdk.NewServer(&sdk.Implementation{Name: "forgetful", Version: "1"}, nil)
	safe := &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
	server.AddTool(&sdk.Tool{Name: "look_up", InputSchema: object{"type": "object"}, Annotations: safe}, echo)
	server.AddTool(&sdk.Tool{Name: "dig_out", InputSchema: object{"type": "object"}, Annotations: safe}, f.takesLong)
	server.AddTool(&sdk.Tool{Name: "send_off", InputSchema: object{"type": "object"}}, f.takesLong)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.die != nil {
		f.die()
	}
	f.life, f.die = context.WithCancel(context.Background())
	f.handler.Store(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
}

// takesLong takes until the test is over the first time, and answers at once from then on.
func (f *forgetful) takesLong(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	f.mu.Lock()
	f.ran[r.Params.Name]++
	first := f.ran[r.Params.Name] == 1
	f.mu.Unlock()
	if first {
		f.begun <- struct{}{}
		<-f.over
	}
	return echo(ctx, r)
}

// calls is how often a long tool was called.
func (f *forgetful) calls(tool string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ran[tool]
}

// TestAnEndedSessionIsRenewedAndWhatWaitedGoesOn has the server lose its sessions while an idempotent call waits for a person. Approved, it
// gets another session, and its result.
func TestAnEndedSessionIsRenewedAndWhatWaitedGoesOn(t *testing.T) {
	t.Parallel()
	up := newForgetful(t)
	_, s, tab, c := seeded(t)
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Archive", "url": up.url})
	c.must(http.StatusOK, http.MethodPost, "/connectors/archive/sync_tools", nil)
	night := c.hire("night", "archive")
	look := newLooker(t, tab)
	(<-night.ask("mcp_archive__look_up", `{"n":1}`)).wants(t, "9007199254740993")
	before := up.started.Load()

	up.forget()
	(<-night.ask("mcp_archive__look_up", `{"n":2}`)).wants(t, "9007199254740993")
	if up.started.Load() == before {
		t.Error("no session was begun anew")
	}
	c.must(http.StatusOK, http.MethodPatch, "/api/v1/agents/night", object{"approval": "always_ask"})
	tab.Go(s.base + "/approvals")
	waiting := night.ask("mcp_archive__look_up", `{"n":3}`)
	tab.WaitText("#approvals", "look_up")
	up.forget()
	tab.Click("#approvals form[action$='/approve'] button")
	(<-waiting).wants(t, "9007199254740993")
	tab.Go(s.base + "/calls?agent=night")
	tab.WaitText("#calls", "3 calls")
	tab.WaitText("#calls tbody", "Success")
	look.at("session-renewed-calls")
	tab.Go(s.base + browser.Eval[string](tab, `document.querySelector("#calls tbody tr:first-child a.cover").getAttribute("href")`))
	tab.WaitText("main", "The server ended the session. The call was repeated in a new one.")
	look.at("session-renewed-call")
	tab.Go(s.base + "/connectors/archive")
	tab.WaitText("main", "Session")
	look.at("session-connector")
}

// TestACallWhoseServerForgetsItGoesOnInTheBrowser has the server lose its sessions during a call. An idempotent
// call continues in a new session. Another one is not repeated, and the agent gets the reason.
func TestACallWhoseServerForgetsItGoesOnInTheBrowser(t *testing.T) {
	t.Parallel()
	up := newForgetful(t)
	_, s, tab, c := seeded(t)
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Archive", "url": up.url})
	c.must(http.StatusOK, http.MethodPost, "/connectors/archive/sync_tools", nil)
	night := c.hire("night", "archive")
	look := newLooker(t, tab)
	open := func(tool, says string) {
		tab.Go(s.base + "/calls?tool=" + tool)
		tab.WaitText("#calls tbody", tool)
		tab.Click("#calls tbody a.cover")
		tab.WaitText("main", says)
	}

	digs := night.ask("mcp_archive__dig_out", `{"n":1}`)
	<-up.begun
	open("dig_out", "Running")
	before := up.started.Load()
	up.forget()
	(<-digs).wants(t, "9007199254740993")
	if ran, sessions := up.calls("dig_out"), up.started.Load()-before; ran != 2 || sessions == 0 {
		t.Errorf("it ran %d times, and %d sessions were begun", ran, sessions)
	}
	open("dig_out", "Success")
	tab.WaitText("main", "The server ended the session. The call was repeated in a new one.")
	look.at("session-cut-off")

	sends := night.ask("mcp_archive__send_off", `{"n":2}`)
	<-up.begun
	up.forget()
	(<-sends).wants(t, "broke before it responded. The tool may have run.")
	if ran := up.calls("send_off"); ran != 1 {
		t.Errorf("a tool that must not run twice ran %d times", ran)
	}
	open("send_off", "The tool may have run.")
	look.at("session-cut-off-unsafe")
	(<-night.ask("mcp_archive__send_off", `{"n":2}`)).wants(t, "9007199254740993") // the caller decides
}
