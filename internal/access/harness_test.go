package access_test

import (
	"context"
	"crypto/rand"
	"sync"
	"testing"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// bundle is a world with a keeper that hears.
type bundle struct {
	*fixture.World
	ctx    context.Context //nolint:containedctx // a test's own
	keeper *access.Keeper
	marks  chan string
}

func newBundle(t testing.TB) *bundle {
	t.Helper()
	w := fixture.New(t)
	b := &bundle{World: w, ctx: t.Context(), marks: make(chan string, 100)}
	b.keeper = hearing(t, w.St, access.Options{}, b.marks)
	return b
}

// process is the store of another process over the same database.
func (b *bundle) process(t testing.TB) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), b.Pool, b.KEK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	return st
}

// settle returns when the keeper has heard all that was done. A mark is made again where it is not heard: on a busy machine the
// keeper's connection is taken for dead now and then, and what is said meanwhile is lost.
func (b *bundle) settle(t testing.TB) {
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

// hearing makes a keeper, and returns when it hears what changes.
func hearing(t testing.TB, st *store.Store, o access.Options, marks ...chan string) *access.Keeper {
	t.Helper()
	hear := func(n store.Notice, k *access.Keeper) {
		if k.Hear(n); n.Kind == "mark" {
			for _, m := range marks {
				m <- n.ID
			}
		}
	}
	o.Store = st
	k := access.New(o)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { stop(); running.Wait() })
	heard := make(chan struct{})
	var once sync.Once
	running.Go(func() { k.Run(ctx) })
	running.Go(func() {
		_ = st.Watch(ctx, func(n store.Notice) { hear(n, k) }, func(connected bool) {
			k.Connected(connected)
			once.Do(func() { close(heard) })
		})
	})
	<-heard
	return k
}

func (b *bundle) byToken(t testing.TB, text secret.Text) *access.View {
	t.Helper()
	v, _, err := b.keeper.ByToken(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (b *bundle) view(t testing.TB, agent connectors.AgentID) *access.View {
	t.Helper()
	v, err := b.keeper.ByAgent(t.Context(), b.Tenant, connectors.Ref(agent.String()))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// soon waits until something is true. A change may take a second, and on a busy machine longer; one that is not heard of is not
// seen for as long as the keeper hears others.
func soon(t testing.TB, what string, is func() bool) {
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

// granted makes an agent that may use all tools of a connector with these tools.
func (b *bundle) granted(t testing.TB, tools ...string) (connectors.Agent, connectors.Connector) {
	t.Helper()
	agent, c := b.Agent(t), b.Connector(t)
	b.Synced(t, c.ID, tools...)
	b.Grant(t, agent.ID, c.ID)
	return agent, c
}

func exposed(v *access.View) []string {
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
