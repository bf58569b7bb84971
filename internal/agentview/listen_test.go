package agentview_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

func next(t testing.TB, changes <-chan agentview.Changed) agentview.Changed {
	t.Helper()
	select {
	case c := <-changes:
		return c
	case <-time.After(time.Minute):
		t.Fatal("nothing was said")
		return agentview.Changed{}
	}
}

func TestListener_GetsRealChangesOnly(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "search")
	b.waitForNotices(t)
	changes, end := b.cache.Subscribe(b.view(t, agent.ID))
	defer end()
	agent.Description = "Nobody's list is different for it."
	if _, err := b.Door().Agents().Update(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	items := []connectors.Item{{Kind: connectors.ItemPrompt, Key: "greet", Raw: []byte(`{"name":"greet"}`)}}
	if _, err := b.Door().Connectors().SaveItems(t.Context(), c.ID, connectors.HashItems(items), items); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(agentview.Changed{Prompts: true}, next(t, changes)); diff != "" {
		t.Error(diff)
	}
	if err := b.Door().Agents().DropGrant(t.Context(), agent.ID, c.ID); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(agentview.Changed{Tools: true, Prompts: true}, next(t, changes)); diff != "" {
		t.Error(diff)
	}
}

func TestListener_OfOneConnector(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "search")
	other := b.Connector(t)
	b.Synced(t, other.ID, "other")
	b.waitForNotices(t)
	changes, end := b.cache.Listen(agentview.Listener{View: b.view(t, agent.ID), Connector: c.Slug})
	defer end()
	b.Grant(t, agent.ID, other.ID)
	b.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.AllTools = false })
	if diff := cmp.Diff(agentview.Changed{Tools: true}, next(t, changes)); diff != "" {
		t.Error(diff)
	}
}

// A server's list_changed arrives while the agent's view is dropped by a change of the agent.
func TestListener_GetsServerNotificationWithoutView(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "search")
	k := agentview.New(agentview.Options{Store: b.St})
	v, err := k.ByAgent(t.Context(), b.Tenant, connectors.Ref(agent.Slug))
	if err != nil {
		t.Fatal(err)
	}
	changes, end := k.Listen(agentview.Listener{View: v, Connector: c.Slug})
	defer end()
	all, endAll := k.Subscribe(v)
	defer endAll()
	k.OnNotify(store.ChangeEvent{Kind: "agent", Tenant: b.Tenant, ID: agent.ID.String()})
	k.OnNotify(store.ChangeEvent{Kind: store.ChangeTools, Tenant: b.Tenant, ID: c.ID.String()})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { k.Run(ctx) })
	defer running.Wait()
	defer stop()
	if diff := cmp.Diff(agentview.Changed{Tools: true}, next(t, changes)); diff != "" {
		t.Error(diff)
	}
	select {
	case said := <-all:
		t.Errorf("nothing is different for a listener of all connectors, which was told %+v", said)
	default:
	}
}

func TestListener_GetsTokenRevocation(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, _ := b.newGrantedAgent(t, "search")
	text, token := b.TokenIn(t, b.Tenant, agent.ID)
	b.waitForNotices(t)
	v, shown, err := b.cache.ByToken(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	changes, end := b.cache.Listen(agentview.Listener{View: v, Token: shown})
	defer end()
	if _, err := b.Door().Agents().DeleteToken(t.Context(), agent.ID, token.ID); err != nil {
		t.Fatal(err)
	}
	if !next(t, changes).AccessEnded {
		t.Error("it is still there")
	}
}

func TestListener_GetsAgentDeletion(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, _ := b.newGrantedAgent(t, "search")
	b.waitForNotices(t)
	changes, end := b.cache.Subscribe(b.view(t, agent.ID))
	defer end()
	if err := b.Door().Agents().Delete(t.Context(), agent.ID); err != nil {
		t.Fatal(err)
	}
	if !next(t, changes).AccessEnded {
		t.Error("it is still there")
	}
}

func TestDisconnected_EntriesExpireAfterOneSecond(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	now := time.Now()
	k := agentview.New(agentview.Options{Store: b.openOtherStore(t), Now: func() time.Time { return now }})
	agent, c := b.newGrantedAgent(t, "search")
	view := func() *agentview.View {
		v, err := k.ByAgent(t.Context(), b.Tenant, connectors.Ref(agent.ID.String()))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	view()
	if err := b.Door().Agents().DropGrant(t.Context(), agent.ID, c.ID); err != nil {
		t.Fatal(err)
	}
	if now = now.Add(999 * time.Millisecond); len(view().Tools) != 1 {
		t.Error("it was loaded again within a second")
	}
	if now = now.Add(time.Millisecond); len(view().Tools) != 0 {
		t.Error("it was trusted for a second, deaf")
	}
}

func TestReconnect_ReloadsViews(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	now := time.Now()
	k := agentview.New(agentview.Options{Store: b.openOtherStore(t), Now: func() time.Time { return now }})
	agent, c := b.newGrantedAgent(t, "search")
	tools := func() int {
		v, err := k.ByAgent(t.Context(), b.Tenant, connectors.Ref(agent.ID.String()))
		if err != nil {
			t.Fatal(err)
		}
		return len(v.Tools)
	}
	k.SetConnected(true)
	tools()
	k.SetConnected(false)
	if err := b.Door().Agents().DropGrant(t.Context(), agent.ID, c.ID); err != nil {
		t.Fatal(err)
	}
	k.SetConnected(true)
	if now = now.Add(time.Hour); tools() != 0 {
		t.Error("what was said in between is not known")
	}
	b.Grant(t, agent.ID, c.ID)
	if now = now.Add(time.Hour); tools() != 0 {
		t.Error("while it hears, it asks again")
	}
}

func TestLoad_IsRepeatedAfterNotice(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 30 {
			b.Synced(t, c.ID, names(i+1)...)
		}
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-tick.C:
			b.view(t, agent.ID)
		}
	}
	if n := len(b.view(t, agent.ID).Tools); n != 30 {
		t.Errorf("%d tools", n)
	}
}

func names(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = "tool_" + string(rune('a'+i%26)) + string(rune('a'+i/26))
	}
	return all
}

func TestEvictViews_DropsLeastRecentlyUsed(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	k := newConnectedCache(t, b.openOtherStore(t), agentview.Options{Bytes: 64 << 10})
	var agents []connectors.Agent
	for range 20 {
		agent, _ := b.newGrantedAgent(t, names(30)...)
		agents = append(agents, agent)
	}
	b.waitForNotices(t)
	for _, a := range agents {
		if _, err := k.ByAgent(t.Context(), b.Tenant, connectors.Ref(a.ID.String())); err != nil {
			t.Fatal(err)
		}
		if got := k.Bytes(); got > 64<<10 {
			t.Fatalf("%d bytes in memory", got)
		}
	}
	before := b.Queries()
	last := agents[len(agents)-1]
	if _, err := k.ByAgent(t.Context(), b.Tenant, connectors.Ref(last.ID.String())); err != nil || b.Queries() != before {
		t.Errorf("the last one is not in memory any more (%v)", err)
	}
}

func TestByToken_RecoversFromDatabaseOutage(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, _ := b.newGrantedAgent(t, "search")
	k := agentview.New(agentview.Options{Store: b.openOtherStore(t)})
	ref := connectors.Ref(agent.ID.String())
	b.Pool.Close()
	_, err := k.ByAgent(t.Context(), b.Tenant, ref)
	wantKind(t, err, fault.Unavailable)
}

func TestWatch_ReconnectsAfterConnectionLoss(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	states := make(chan bool, 10)
	go func() {
		_ = b.openOtherStore(t).Watch(t.Context(), func(store.ChangeEvent) {}, func(c bool) { states <- c })
	}()
	if !<-states {
		t.Fatal("it does not hear")
	}
	b.endConnections(t)
	for _, want := range []bool{false, true} {
		select {
		case got := <-states:
			if got != want {
				t.Errorf("connected: %v", got)
			}
		case <-time.After(time.Minute):
			t.Fatalf("never told connected: %v", want)
		}
	}
}

// endConnections terminates all connections to the world's database but the test's own.
func (b *testEnv) endConnections(t *testing.T) {
	t.Helper()
	owner, err := pgx.Connect(t.Context(), b.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close(context.Background()) }()
	_, err = owner.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid()`)
	if err != nil {
		t.Fatal(err)
	}
}

// A view is used for up to a second while disconnected. Its listeners still get the change that happened then.
func TestListener_GetsChangeMissedWhileDisconnected(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	now := time.Now()
	k := agentview.New(agentview.Options{Store: b.openOtherStore(t), Now: func() time.Time { return now }})
	agent, c := b.newGrantedAgent(t, "search")
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		k.Run(ctx)
	}()
	defer func() {
		stop()
		<-over
	}()
	k.SetConnected(true)
	v, err := k.ByAgent(t.Context(), b.Tenant, connectors.Ref(agent.ID.String()))
	if err != nil {
		t.Fatal(err)
	}
	changes, end := k.Subscribe(v)
	defer end()
	k.SetConnected(false)
	if err := b.Door().Agents().DropGrant(t.Context(), agent.ID, c.ID); err != nil {
		t.Fatal(err)
	}
	k.SetConnected(true)
	if !next(t, changes).Tools {
		t.Error("not told of its tools")
	}
}

// warned is a log handler that reports a failed notification.
type warned struct {
	slog.Handler
	told chan struct{}
}

func (w warned) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "change not yet sent") {
		select {
		case w.told <- struct{}{}:
		default:
		}
	}
	return nil
}

func (w warned) Enabled(context.Context, slog.Level) bool { return true }

func TestListener_IsNotifiedAgainAfterError(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "search")
	log := warned{Handler: slog.DiscardHandler, told: make(chan struct{}, 1)}
	k := newConnectedCache(t, b.openOtherStore(t), agentview.Options{Log: slog.New(log)})
	v, err := k.ByAgent(t.Context(), b.Tenant, connectors.Ref(agent.ID.String()))
	if err != nil {
		t.Fatal(err)
	}
	changes, end := k.Subscribe(v)
	defer end()
	b.asOwner(t, "alter table agents rename to agents_away")
	if err := b.Door().Agents().DropGrant(t.Context(), agent.ID, c.ID); err != nil {
		t.Fatal(err)
	}
	select {
	case <-log.told:
	case <-time.After(time.Minute):
		t.Fatal("it was told, of a table that is away")
	}
	b.asOwner(t, "alter table agents_away rename to agents")
	if !next(t, changes).Tools {
		t.Error("not told of its tools")
	}
}

// asOwner runs a statement as the owner of the world's database.
func (b *testEnv) asOwner(t *testing.T, statement string) {
	t.Helper()
	owner, err := pgx.Connect(t.Context(), b.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close(context.Background()) }()
	if _, err := owner.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
