package agentview_test

import (
	"context"
	"crypto/rand"
	"sync"
	"testing"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// testEnv is a test world with a connected cache.
type testEnv struct {
	*fixture.World
	ctx   context.Context //nolint:containedctx // a test's own
	cache *agentview.Cache
	marks chan string
}

func newTestEnv(t testing.TB) *testEnv {
	t.Helper()
	w := fixture.New(t)
	b := &testEnv{World: w, ctx: t.Context(), marks: make(chan string, 100)}
	b.cache = newConnectedCache(t, w.St, agentview.Options{}, b.marks)
	return b
}

// openOtherStore opens the store of another process on the same database.
func (b *testEnv) openOtherStore(t testing.TB) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), b.Pool, b.KEK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	return st
}

// waitForNotices returns when the cache has received all notices so far. It repeats its mark: on a busy machine the
// LISTEN connection may be lost, and notices with it.
func (b *testEnv) waitForNotices(t testing.TB) {
	t.Helper()
	again := time.NewTicker(5 * time.Second)
	defer again.Stop()
	mark := rand.Text()
	for heard := ""; heard != mark; {
		if _, err := b.Pool.Exec(t.Context(), "select pg_notify('patchbay_changes', 'mark ' || $1 || ' ' || $2)", b.Tenant.String(), mark); err != nil {
			t.Fatal(err)
		}
		select {
		case heard = <-b.marks:
		case <-again.C:
		}
	}
}

// newConnectedCache returns a cache once it receives notices.
func newConnectedCache(t testing.TB, st *store.Store, o agentview.Options, marks ...chan string) *agentview.Cache {
	t.Helper()
	hear := func(n store.ChangeEvent, k *agentview.Cache) {
		if k.OnNotify(n); n.Kind == "mark" {
			for _, m := range marks {
				m <- n.ID
			}
		}
	}
	o.Store = st
	k := agentview.New(o)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { stop(); running.Wait() })
	heard := make(chan struct{})
	var once sync.Once
	running.Go(func() { k.Run(ctx) })
	running.Go(func() {
		_ = st.Watch(ctx, func(n store.ChangeEvent) { hear(n, k) }, func(connected bool) {
			k.SetConnected(connected)
			once.Do(func() { close(heard) })
		})
	})
	<-heard
	return k
}

func (b *testEnv) byToken(t testing.TB, text secret.Text) *agentview.View {
	t.Helper()
	v, _, err := b.cache.ByToken(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (b *testEnv) view(t testing.TB, agent connectors.AgentID) *agentview.View {
	t.Helper()
	v, err := b.cache.ByAgent(t.Context(), b.Tenant, connectors.Ref(agent.String()))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// eventually polls until is returns true, for at most 30 seconds.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	end := time.After(30 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("not soon: %s", what)
		}
	}
}

// newGrantedAgent creates an agent with a grant for all tools of a new connector.
func (b *testEnv) newGrantedAgent(t testing.TB, tools ...string) (connectors.Agent, connectors.Connector) {
	t.Helper()
	agent, c := b.Agent(t), b.Connector(t)
	b.Synced(t, c.ID, tools...)
	b.Grant(t, agent.ID, c.ID)
	return agent, c
}

func exposedNames(v *agentview.View) []string {
	names := []string{}
	for _, t := range v.Tools {
		names = append(names, t.Exposed)
	}
	return names
}

func wantKind(t testing.TB, err error, kind fault.Kind) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Errorf("error = %v, want %v", err, kind)
	}
}
