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

// listener is an agent's client that hears which lists change.
type listener struct {
	*sdk.ClientSession
	heard chan string
}

func listen(t testing.TB, address string, token secret.Text, e era) *listener {
	t.Helper()
	l := &listener{heard: make(chan string, 100)}
	l.ClientSession = connect(t, address, token, e, func(o *sdk.ClientOptions) {
		o.ToolListChangedHandler = func(context.Context, *sdk.ToolListChangedRequest) { l.heard <- "tools" }
		o.PromptListChangedHandler = func(context.Context, *sdk.PromptListChangedRequest) { l.heard <- "prompts" }
		o.ResourceListChangedHandler = func(context.Context, *sdk.ResourceListChangedRequest) { l.heard <- "resources" }
	})
	return l
}

// hears waits until the client was told that its tools changed, and they are these.
func (l *listener) hears(t testing.TB, tools string) {
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

func TestListeningAgentsHearWhatChangesWhicheverProcessChangesIt(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			other := newProcess(t, b.World)
			agent := b.auto(t)
			up := newUpstream(t, sdk.StreamableHTTPOptions{}).echo("a")
			c := b.to(t, "one", up.url, func(d *connectors.Draft) { d.ToolChanges = connectors.ToolChangesAuto })
			token := b.Token(t, agent.ID)
			all := listen(t, other.url+"/mcp", token, e)
			other.listening(t, 1)

			b.Grant(t, agent.ID, c.ID)
			all.hears(t, "mcp_one__a")
			one := listen(t, other.url+"/mcp/one", token, e)
			other.listening(t, 2)

			up.echo("b")
			b.synced(t, c)
			all.hears(t, "mcp_one__a mcp_one__b")
			one.hears(t, "a b")

			b.Grant(t, agent.ID, c.ID, fixture.Named("b"))
			all.hears(t, "mcp_one__b")
			one.hears(t, "b")
			if err := b.Door().DeleteConnector(t.Context(), c.ID); err != nil {
				t.Fatal(err)
			}
			all.hears(t, "")
		})
	}
}

// listening waits until so many agents listen at a process: a client that has connected need not listen yet.
func (p *process) listening(t testing.TB, n int) {
	t.Helper()
	within(t, fmt.Sprintf("%d agents listen", n), func() bool { return p.handler.Listeners() == n })
}

func TestAListenerIsCutOffWithItsToken(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			agent := b.auto(t)
			text, made := b.TokenIn(t, b.Tenant, agent.ID)
			listen(t, b.url+"/mcp", text, e)
			b.listening(t, 1)
			if _, err := b.Door().DeleteAgentToken(t.Context(), agent.ID, made.ID); err != nil {
				t.Fatal(err)
			}
			within(t, "nobody listens", func() bool { return b.handler.Listeners() == 0 })
		})
	}
}

func TestWhatAServerSaysPassesThroughAtItsOwnAddressAlone(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			other := newProcess(t, b.World)
			agent := b.auto(t)
			c := b.to(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).echo("a").url)
			b.to(t, "two", newUpstream(t, sdk.StreamableHTTPOptions{}).echo("a").url)
			b.Grant(t, agent.ID, c.ID)
			token := b.Token(t, agent.ID)
			all, one := listen(t, other.url+"/mcp", token, e), listen(t, other.url+"/mcp/one", token, e)
			other.listening(t, 2)
			if err := b.Door().PassOn(t.Context(), c.ID, store.NoticeTools); err != nil {
				t.Fatal(err)
			}
			one.hears(t, "a")
			select {
			case said := <-all.heard:
				t.Errorf("nothing changed, and an agent of all connectors was told of %s", said)
			default:
			}
		})
	}
}
