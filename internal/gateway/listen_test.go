package gateway_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// testListener is an agent's client that receives list changes.
type testListener struct {
	*sdk.ClientSession
	heard chan string
}

func listen(t testing.TB, address string, token secret.Text, e era) *testListener {
	t.Helper()
	l := &testListener{heard: make(chan string, 100)}
	l.ClientSession = connect(t, address, token, e, func(o *sdk.ClientOptions) {
		o.ToolListChangedHandler = func(context.Context, *sdk.ToolListChangedRequest) { l.heard <- "tools" }
		o.PromptListChangedHandler = func(context.Context, *sdk.PromptListChangedRequest) { l.heard <- "prompts" }
		o.ResourceListChangedHandler = func(context.Context, *sdk.ResourceListChangedRequest) { l.heard <- "resources" }
	})
	return l
}

// wantNotification waits for a tools change with these tools.
func (l *testListener) wantNotification(t testing.TB, tools string) {
	t.Helper()
	end := time.After(patience)
	for {
		select {
		case heard := <-l.heard:
			if heard == "tools" && toolNames(t, l.ClientSession) == tools {
				return
			}
		case <-end:
			t.Fatalf("nobody said that the tools are %q", tools)
		}
	}
}

func TestListen_NotifiesAcrossProcesses(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			other := newTestProcess(t, b.World)
			agent := b.newAutoAgent(t)
			up := newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a")
			c := b.newConnector(t, "one", up.url, func(d *connectors.Draft) { d.ToolChanges = connectors.ToolChangesAuto })
			token := b.Token(t, agent.ID)
			all := listen(t, other.url+"/mcp", token, e)
			other.listening(t, 1)

			b.Grant(t, agent.ID, c.ID)
			all.wantNotification(t, "mcp_one__a")
			one := listen(t, other.url+"/mcp/one", token, e)
			other.listening(t, 2)

			up.withEchoTools("b")
			b.syncConnector(t, c)
			all.wantNotification(t, "mcp_one__a mcp_one__b")
			one.wantNotification(t, "a b")

			b.Grant(t, agent.ID, c.ID, fixture.Named("b"))
			all.wantNotification(t, "mcp_one__b")
			one.wantNotification(t, "b")
			if err := b.Door().Connectors().Delete(t.Context(), c.ID); err != nil {
				t.Fatal(err)
			}
			all.wantNotification(t, "")
		})
	}
}

// listening waits for n listener streams. A connected client need not listen yet.
func (p *testProcess) listening(t testing.TB, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d agents listen", n), func() bool { return p.handler.Listeners() == n })
}

func TestListen_EndsWithToken(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			agent := b.newAutoAgent(t)
			text, made := b.TokenIn(t, b.Tenant, agent.ID)
			listen(t, b.url+"/mcp", text, e)
			b.listening(t, 1)
			if _, err := b.Door().Agents().DeleteToken(t.Context(), agent.ID, made.ID); err != nil {
				t.Fatal(err)
			}
			eventually(t, "nobody listens", func() bool { return b.handler.Listeners() == 0 })
		})
	}
}

func TestServerInfo_IsRelayedAtConnectorAddressOnly(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			other := newTestProcess(t, b.World)
			agent := b.newAutoAgent(t)
			c := b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a").url)
			b.newConnector(t, "two", newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a").url)
			b.Grant(t, agent.ID, c.ID)
			token := b.Token(t, agent.ID)
			all, one := listen(t, other.url+"/mcp", token, e), listen(t, other.url+"/mcp/one", token, e)
			other.listening(t, 2)
			if err := b.Door().Syncs().NotifyListChanged(t.Context(), c.ID, store.ChangeTools); err != nil {
				t.Fatal(err)
			}
			one.wantNotification(t, "a")
			select {
			case said := <-all.heard:
				t.Errorf("nothing changed, and an agent of all connectors was told of %s", said)
			default:
			}
		})
	}
}
