package gateway_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/toolsync"
)

// TestCall_PanicAffectsOneTenantOnly makes the calls of one tenant panic while another tenant calls.
func TestCall_PanicAffectsOneTenantOnly(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a")
	agent := b.newAutoAgent(t)
	missing := b.Connector(t, func(d *connectors.Draft) {
		d.Slug, d.URL, d.Auth.Type, d.CredentialMode = "own", up.url, connectors.AuthBearer, connectors.CredentialPerAgent
	})
	b.Synced(t, missing.ID, "a")
	b.Grant(t, agent.ID, missing.ID)
	b.panics.Store(true)

	other := b.AgentIn(t, b.Other, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAuto })
	c := b.ConnectorIn(t, b.Other, func(d *connectors.Draft) { d.Slug, d.URL, d.Timeout = "well", up.url, patience })
	if _, err := b.sync.Sync(t.Context(), b.Other, toolsync.Request{Connector: connectors.Ref(c.ID.String()), Trigger: connectors.TriggerManual}); err != nil {
		t.Fatal(err)
	}
	b.GrantIn(t, b.Other, other.ID, c.ID)

	before := safe.Count(safe.Call)
	failing := b.Token(t, agent.ID)
	well, _ := b.TokenIn(t, b.Other, other.ID)
	var running sync.WaitGroup
	for _, e := range eras {
		panics, works := connect(t, b.url+"/mcp", failing, e), connect(t, b.url+"/mcp", well, e)
		running.Go(func() {
			for range 20 {
				_, err := panics.CallTool(t.Context(), &sdk.CallToolParams{Name: "mcp_own__a", Arguments: map[string]any{"text": "x"}})
				if wire, ok := errors.AsType[*jsonrpc.Error](err); !ok || wire.Code != -32603 {
					t.Errorf("error = %v", err)
				}
			}
		})
		running.Go(func() {
			for range 20 {
				if got := textOf(call(t, works, "mcp_well__a", map[string]any{"text": "hello"})); got != "a: hello" {
					t.Errorf("it says %q", got)
				}
			}
		})
	}
	running.Wait()
	if n := safe.Count(safe.Call) - before; n < 40 {
		t.Errorf("%d calls panicked", n)
	}
}
