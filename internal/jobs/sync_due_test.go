package jobs_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/queue"
	"patchbay/internal/store"
	"patchbay/internal/toolsync"
)

// waitSynced waits for a sync of each connector.
func waitSynced(t *testing.T, events <-chan toolsync.Progress, ids ...connectors.ConnectorID) {
	t.Helper()
	late := time.After(patience)
	for len(ids) > 0 {
		select {
		case p := <-events:
			if i := slices.Index(ids, p.Connector); p.Done && i >= 0 {
				ids = slices.Delete(ids, i, i+1)
			}
		case <-late:
			t.Fatalf("%d connectors were not synced", len(ids))
		}
	}
}

func TestClock_SyncsDueConnectors(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(2)})
	c := b.addConnector(t, up.URL)
	events, unwatch := b.sync.Watch(b.Tenant)
	defer unwatch()
	defer stop(t, b.start(t))

	for range 3 { // the first one stores tools, the others find no change
		b.MakeDue(t)
		waitSynced(t, events, c.ID)
	}
	runs, err := b.Door().Syncs().List(t.Context(), c.ID, store.Page{})
	if err != nil || len(runs.Items) != 2 {
		t.Fatalf("runs = %+v, %v", runs.Items, err)
	}
	if r := runs.Items[1]; r.State != connectors.SyncOK || r.Trigger != connectors.TriggerSchedule || r.Counts.Added != 2 || r.Repeats != 0 {
		t.Errorf("first run = %+v", r)
	}
	if r := runs.Items[0]; r.State != connectors.SyncOK || r.Trigger != connectors.TriggerSchedule || r.Counts.Added != 0 || r.Repeats != 1 {
		t.Errorf("second run = %+v", r)
	}
}

// countDueJobs counts the jobs that the clock has inserted.
func (b *bundle) countDueJobs(t *testing.T) int {
	t.Helper()
	var n int
	if err := b.Pool.QueryRow(t.Context(), "select count(*) from river_job where kind = $1", queue.SyncDue{}.Kind()).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestClock_FewDueInsertNoJob(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	c, another := b.addConnector(t, up.URL), b.addConnector(t, up.URL)
	events, unwatch := b.sync.Watch(b.Tenant)
	defer unwatch()
	defer stop(t, b.start(t))
	for range 3 {
		b.MakeDue(t)
		waitSynced(t, events, c.ID, another.ID)
	}
	if n := b.countDueJobs(t); n != 0 {
		t.Errorf("%d jobs for two connectors", n)
	}
}

func TestClock_ManyDueAreSharedByJobs(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	ids := make([]connectors.ConnectorID, 130) // more than one claim
	for i := range ids {
		ids[i] = b.addConnector(t, up.URL).ID
	}
	events, unwatch := b.sync.Watch(b.Tenant)
	defer unwatch()
	b.MakeDue(t)
	defer stop(t, b.start(t))
	waitSynced(t, events, ids...)
	if n := b.countDueJobs(t); n == 0 {
		t.Error("no job for what was due, so that other processes have no part in it")
	}
}

// hungServer is a server that answers tools/list when the test says so.
type hungServer struct {
	*mcptest.Server
	asked chan struct{}
	free  func()
}

func newHungServer(t *testing.T) *hungServer {
	t.Helper()
	s, released := &hungServer{asked: make(chan struct{}, 1000)}, make(chan struct{})
	s.free = sync.OnceFunc(func() { close(released) })
	t.Cleanup(s.free)
	s.Server = mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		s.asked <- struct{}{}
		<-released
		mcptest.ListResult(mcptest.Tool("late"))(w, r, c)
	}}})
	return s
}

func TestSyncDue_HungServersDelayNoOther(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	stuck := newHungServer(t)
	for range 40 { // more than the slots of a host
		b.addConnector(t, stuck.URL)
	}
	b.MakeDue(t)
	defer stop(t, b.start(t))
	defer stuck.free()
	<-stuck.asked

	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	theirs, mine := b.ConnectorIn(t, b.Other, func(d *connectors.Draft) { d.URL = up.URL }), b.addConnector(t, up.URL)
	events, unwatch := b.sync.Watch(b.Tenant)
	defer unwatch()
	others, unwatchOthers := b.sync.Watch(b.Other)
	defer unwatchOthers()
	b.MakeDue(t)
	waitSynced(t, events, mine.ID)
	waitSynced(t, others, theirs.ID)
	if n := len(stuck.asked) + 1; n > 16 {
		t.Errorf("%d conversations with one server", n)
	}
}

// Each server has twelve syncs of either tenant, below its limit, so that the process's slots are tested.
func TestSyncDue_FiveHundredHungSyncsDelayNoOther(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const hosts, each = 21, 12
	hung := make([]*hungServer, hosts)
	for i := range hung {
		hung[i] = newHungServer(t)
		for range each {
			for _, tenant := range []connectors.TenantID{b.Tenant, b.Other} {
				b.ConnectorIn(t, tenant, func(d *connectors.Draft) { d.URL, d.Timeout, d.RetryAttempts = hung[i].URL, connectors.MaxTimeout, 0 })
			}
		}
	}
	b.MakeDue(t)
	defer stop(t, b.start(t))
	defer func() {
		for _, s := range hung {
			s.free()
		}
	}()
	late := time.After(patience)
	for i, s := range hung {
		for range 2 * each {
			select {
			case <-s.asked:
			case <-late:
				t.Fatalf("server %d of %d is asked by less than %d", i+1, hosts, 2*each)
			}
		}
	}

	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	events, unwatch := b.sync.Watch(b.Other)
	defer unwatch()
	one := b.ConnectorIn(t, b.Other, func(d *connectors.Draft) { d.URL = up.URL })
	b.AsSystem(t, "update connector_clock set due_at = now() where connector_id = $1", []any{one.ID.UUID})
	waitSynced(t, events, one.ID)
	var held, failed int
	b.AsSystem(t, "select count(*) filter (where claimed_by is not null), count(*) filter (where failures > 0) from connector_clock where connector_id <> $1",
		[]any{one.ID.UUID}, &held, &failed)
	if all := 2 * hosts * each; held != all || failed != 0 {
		t.Errorf("%d of %d are under way, %d failed", held, all, failed)
	}
}

func TestSyncDue_HungServerDelaysNotEvenItsTenant(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	stuck := newHungServer(t)
	const many = 300 // above a tenant's 256 claims
	for range many {
		b.addConnector(t, stuck.URL)
	}
	b.SetDue(t, -time.Hour)
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	mine, theirs := b.addConnector(t, up.URL), b.ConnectorIn(t, b.Other, func(d *connectors.Draft) { d.URL = up.URL })
	b.AsSystem(t, "update connector_clock set due_at = now() where connector_id in ($1, $2)", []any{mine.ID.UUID, theirs.ID.UUID})
	events, unwatch := b.sync.Watch(b.Tenant)
	defer unwatch()
	others, unwatchOthers := b.sync.Watch(b.Other)
	defer unwatchOthers()

	defer stop(t, b.start(t))
	defer stuck.free()
	waitSynced(t, others, theirs.ID)
	waitSynced(t, events, mine.ID)
	if n := len(stuck.asked); n > 16 {
		t.Errorf("%d conversations with one server", n)
	}
	var held, late, failed int
	b.AsSystem(t, `select count(*) filter (where claimed_by is not null), count(*) filter (where claimed_by is null and due_at > now()),
	                      count(*) filter (where failures > 0) from connector_clock where connector_id <> $1 and connector_id <> $2`,
		[]any{mine.ID.UUID, theirs.ID.UUID}, &held, &late, &failed)
	if failed != 0 || held > 256 || late == 0 {
		t.Errorf("%d of %d are claimed, %d are due later, %d failed", held, many, late, failed)
	}
}

func TestSyncDue_SmallTenantPrecedesLargeOne(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const large, small = 120, 5
	mine, theirs := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(2)}), mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(2)})
	for range large {
		b.addConnector(t, mine.URL)
	}
	for range small {
		b.ConnectorIn(t, b.Other, func(d *connectors.Draft) { d.URL = theirs.URL })
	}
	ends := b.watchEnds(t, large+small)
	b.MakeDue(t) // all lists are new and written
	defer stop(t, b.start(t))

	var order []connectors.TenantID
	for range large + small {
		select {
		case of := <-ends:
			order = append(order, of)
		case <-time.After(patience):
			t.Fatalf("%d syncs ended", len(order))
		}
	}
	last := slices.Index(order, b.Other)
	for i, of := range order {
		if of == b.Other {
			last = i
		}
	}
	if last > large/2 {
		t.Errorf("the small tenant's last sync was the %dth of %d", last+1, len(order))
	}
}

// watchEnds returns the tenants of finished scheduled syncs, in order.
func (b *bundle) watchEnds(t *testing.T, most int) <-chan connectors.TenantID {
	t.Helper()
	ends := make(chan connectors.TenantID, most)
	for _, tenant := range []connectors.TenantID{b.Tenant, b.Other} {
		events, unwatch := b.sync.Watch(tenant)
		t.Cleanup(unwatch)
		go func() {
			for p := range events { // until unwatch
				if p.Done {
					ends <- tenant
				}
			}
		}()
	}
	return ends
}
