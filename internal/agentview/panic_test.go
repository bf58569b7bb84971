package agentview_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/store"
	"patchbay/internal/testing/paniclog"
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

// The loop panics that records uses of tokens.
func TestTokenUses_PanicLosesOneUse(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	b := newTestEnv(t)
	agent, _ := b.newGrantedAgent(t, "search")
	first, second := b.Token(t, agent.ID), b.Token(t, agent.ID)
	waitForPanic := b.PanicBelow(t, "(*Cache).recordTokenUses", 1)
	b.byToken(t, first)
	waitForPanic()
	b.byToken(t, second)
	eventually(t, "the next use is noted", func() bool {
		list, err := b.Door().Agents().Tokens(t.Context(), agent.ID, store.Page{})
		return err == nil && slices.ContainsFunc(list.Items, func(a connectors.AgentToken) bool { return a.LastUsedAt != nil })
	})
	b.byToken(t, first)
	panics.Want(t, safe.Background, "(*Cache).recordTokenUses")
}

// The load of a view for listening agents panics.
func TestListen_PanicDelaysTheChange(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "search")
	changed, end := b.cache.Subscribe(b.view(t, agent.ID))
	defer end()
	waitForPanic := b.PanicBelow(t, "(*Cache).readView", 1)
	b.Synced(t, c.ID, "search", "create")
	waitForPanic()
	if got := <-changed; !got.Tools {
		t.Errorf("changed = %+v", got)
	}
	panics.Want(t, safe.View, "(*Cache).readView")
}
