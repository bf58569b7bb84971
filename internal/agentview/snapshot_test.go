package agentview_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/db"
	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// A grant is committed between the load's statements for grants and tools.
func TestViewLoad_GrantCommittedBetweenStatements(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t)
	b.Synced(t, c.ID, "search", "write")
	load, unlock := b.loadUntil(t, agent, "tools")
	b.Grant(t, agent.ID, c.ID)
	unlock()
	if v := load(t); len(v.Tools) != 0 || len(v.Connectors) != 0 {
		t.Errorf("%d connectors with %v, which were granted after the load had begun", len(v.Connectors), exposedNames(v))
	}
	b.waitForNotices(t)
	if v := b.view(t, agent.ID); len(v.Tools) != 2 {
		t.Errorf("%v afterwards, want both tools", exposedNames(v))
	}
}

// A connector is deleted between the load's statements for tools and definitions.
func TestViewLoad_DefinitionsDeletedBetweenStatements(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "search", "write")
	kept := b.Connector(t)
	b.Synced(t, kept.ID, "read")
	b.Grant(t, agent.ID, kept.ID)
	b.waitForNotices(t)
	load, unlock := b.loadUntil(t, agent, "tool_definitions")
	if err := b.Door().Connectors().Delete(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	unlock("delete from tool_definitions where hash not in (select accepted_hash from tools)")
	if v := load(t); len(v.Tools) != 1 || v.Connector(c.Slug) != nil {
		t.Errorf("%v, want the tool of the connector that is left", exposedNames(v))
	}
}

// loadUntil starts a load and returns when it waits for a table lock. load waits for its end; unlock runs
// statements and releases the lock.
func (b *testEnv) loadUntil(t *testing.T, agent connectors.Agent, table string) (load func(t *testing.T) *agentview.View, unlock func(statements ...string)) {
	t.Helper()
	lock, err := b.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run := func(sql string) {
		t.Helper()
		if _, err := lock.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = lock.Rollback(context.WithoutCancel(t.Context())) })
	run("select set_config('app.system', 'on', true)")
	type result struct {
		view *agentview.View
		err  error
	}
	loaded := make(chan result, 1)
	keeper := b.newSingleConnCache(t)
	if _, err := keeper.LoadUncached(t.Context(), b.Tenant, connectors.Ref(b.Agent(t).ID.String())); err != nil {
		t.Fatal(err)
	}
	run("lock table " + table + " in access exclusive mode")
	go func() {
		v, err := keeper.LoadUncached(context.WithoutCancel(t.Context()), b.Tenant, connectors.Ref(agent.ID.String()))
		loaded <- result{v, err}
	}()
	b.waitForBlocked(t, 1)
	load = func(t *testing.T) *agentview.View {
		t.Helper()
		r := <-loaded
		if r.err != nil {
			t.Fatal(r.err)
		}
		return r.view
	}
	unlock = func(statements ...string) {
		t.Helper()
		for _, sql := range statements {
			run(sql)
		}
		if err := lock.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return load, unlock
}

// newSingleConnCache returns the empty cache of another process with one connection. Its prepared statements take
// locks only when they run.
func (b *testEnv) newSingleConnCache(t *testing.T) *agentview.Cache {
	t.Helper()
	pool, err := db.OpenPool(t.Context(), b.URL, db.PoolOptions{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	st, err := store.Open(t.Context(), pool, b.KEK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	return agentview.New(agentview.Options{Store: st})
}

// waitForBlocked waits until want database connections wait for a lock.
func (b *testEnv) waitForBlocked(t *testing.T, want int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), b.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	look, patience := time.NewTicker(5*time.Millisecond), time.After(time.Minute)
	defer look.Stop()
	for waiting := 0; waiting < want; {
		err := conn.QueryRow(t.Context(),
			"select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'").Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-look.C:
		case <-patience:
			t.Fatalf("%d connections wait for a lock, want %d", waiting, want)
		}
	}
}

// A request after a change must not get the view of a load that began before it.
func TestView_ActWhileLoading(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "search")
	b.waitForNotices(t)
	lock, err := b.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := lock.Exec(t.Context(), "lock table tools in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	ask := func(views chan<- *agentview.View) {
		v, err := b.cache.ByAgent(context.WithoutCancel(t.Context()), b.Tenant, connectors.Ref(agent.ID.String()))
		if err != nil {
			t.Error(err)
		}
		views <- v
	}
	before, after := make(chan *agentview.View, 1), make(chan *agentview.View, 1)
	go ask(before)
	b.waitForBlocked(t, 1)
	if err := b.Door().Agents().DropGrant(t.Context(), agent.ID, c.ID); err != nil {
		t.Fatal(err)
	}
	b.waitForNotices(t)
	go ask(after)
	b.waitForBlocked(t, 2)
	if err := lock.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-before // may be either
	if v := <-after; len(v.Tools) != 0 {
		t.Errorf("the request after the act sees %v, which was taken", exposedNames(v))
	}
	if v := b.view(t, agent.ID); len(v.Tools) != 0 {
		t.Errorf("%v afterwards", exposedNames(v))
	}
}
