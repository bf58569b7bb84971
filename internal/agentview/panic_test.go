package agentview_test

import (
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/safe"
)

func TestLoad_PanicFailsOnlyItsWaiters(t *testing.T) {
	b := newTestEnv(t)
	agent, other := b.Agent(t), b.AgentIn(t, b.Other)
	var panics atomic.Int32
	k := agentview.New(agentview.Options{Store: b.openOtherStore(t), Now: func() time.Time { // no LISTEN connection: each view is loaded
		if panics.Load() > 0 && panics.Add(-1) == 0 { // the first two calls are the caller's, the third the load's
			panic("of a test")
		}
		return time.Now()
	}})
	before := safe.Count(safe.View)
	for range 3 {
		panics.Store(3)
		v, err := k.ByAgent(t.Context(), b.Tenant, connectors.Ref(agent.ID.String()))
		if v != nil || !safe.IsPanic(err) {
			t.Fatalf("view = %v, error = %v", v, err)
		}
	}
	if n := safe.Count(safe.View) - before; n < 3 {
		t.Errorf("%d panics are counted", n)
	}
	for tenant, id := range map[connectors.TenantID]connectors.AgentID{b.Tenant: agent.ID, b.Other: other.ID} {
		if _, err := k.ByAgent(t.Context(), tenant, connectors.Ref(id.String())); err != nil {
			t.Errorf("the next load: %v", err)
		}
	}
}
