package upstream_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/safe"
	"patchbay/internal/toolcall/upstream"
)

func TestOpening_PanicFailsOnlyItsWaiters(t *testing.T) {
	var panics atomic.Bool
	var failing connectors.TenantID
	b := newBench(t, func(o *upstream.Options) {
		o.Target = func(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, h []credentials.Header) (mcp.Target, error) {
			if tenant == failing && panics.Load() {
				panic("of a test")
			}
			return newTarget(ctx, tenant, c, h)
		}
	})
	failing = b.Tenant
	panics.Store(true)
	c, healthy := b.newSharedConnector(t), b.newConnector(t, b.Other)
	b.saveCredential(t, b.Other, healthy, nil, connectors.Secret{Token: "two"})
	before := safe.Count(safe.Upstream)
	var waiting sync.WaitGroup
	for range 4 {
		waiting.Go(func() {
			if err := b.call(t.Context(), b.newRequest(c)); !safe.IsPanic(err) {
				t.Errorf("error = %v", err)
			}
			if err := b.call(t.Context(), upstream.SessionRequest{Tenant: b.Other, Connector: healthy}); err != nil {
				t.Errorf("another tenant's call: %v", err)
			}
		})
	}
	waiting.Wait()
	if n := safe.Count(safe.Upstream) - before; n < 1 || n > 4 {
		t.Errorf("%d panics are counted", n)
	}
	panics.Store(false)
	must(t, b.call(t.Context(), b.newRequest(c)))
	if n := b.server.openedSessions(t); n != 2 {
		t.Errorf("%d sessions are open", n)
	}
}
