package e2e_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// forgetful is a server with sessions that may lose all of them, as one does that is started anew.
type forgetful struct {
	url     string
	handler atomic.Pointer[sdk.StreamableHTTPHandler]
	started atomic.Int64 // sessions
}

func newForgetful(t *testing.T) *forgetful {
	t.Helper()
	f := &forgetful{}
	f.forget()
	f.url = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Session-Id") == "" && r.Method == http.MethodPost {
			f.started.Add(1)
		}
		f.handler.Load().ServeHTTP(w, r)
	}))
	return f
}

// forget loses all sessions: whoever comes with one is answered 404.
func (f *forgetful) forget() {
	server := sdk.NewServer(&sdk.Implementation{Name: "forgetful", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{
		Name: "look_up", InputSchema: object{"type": "object"}, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true},
	}, echo)
	f.handler.Store(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
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
	tab.Go(s.base + "/connectors/archive")
	tab.WaitText("main", "Session")
	look.at("session-connector")
}
