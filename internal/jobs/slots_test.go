package jobs_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/queue"
	"patchbay/internal/toolsync"
)

// addNeighbour adds a tenant with a connector and the same queue.
func (b *bundle) addNeighbour(t *testing.T, url string) (connectors.TenantID, connectors.Connector) {
	t.Helper()
	for {
		made, err := b.St.System().CreateTenant(t.Context(), "Neighbour", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if queue.For(made.ID.UUID) == queue.For(b.Tenant.UUID) {
			return made.ID, b.ConnectorIn(t, made.ID, func(d *connectors.Draft) { d.URL = url })
		}
	}
}

func (b *bundle) queueOf(t *testing.T, tenant connectors.TenantID, c connectors.Connector) connectors.SyncRun {
	t.Helper()
	run, err := b.sync.Queue(t.Context(), tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerManual})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestFairness_HungTenantDelaysNoOtherTenant(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	stuck := newHungServer(t)
	for range 120 {
		b.addConnector(t, stuck.URL)
	}
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	tenant, theirs := b.addNeighbour(t, up.URL)
	events, unwatch := b.sync.Watch(tenant)
	defer unwatch()
	if n, err := b.sync.QueueAll(t.Context(), b.Tenant, connectors.TriggerManual, nil); n != 120 || err != nil {
		t.Fatalf("queued %d, %v", n, err)
	}
	defer stop(t, b.start(t))
	defer stuck.free()
	for range 16 { // a tenant's maximum
		<-stuck.asked
	}
	waitDone(t, events, b.queueOf(t, tenant, theirs).ID)
	if n := len(stuck.asked); n > 0 {
		t.Errorf("%d conversations of one tenant", n+16)
	}
}

func TestFairness_FewSyncsComeBeforeMany(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const many = 150
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	for range many {
		b.addConnector(t, up.URL)
	}
	tenant, theirs := b.addNeighbour(t, up.URL)
	mine, unwatch := b.sync.Watch(b.Tenant)
	defer unwatch()
	others, unwatchOthers := b.sync.Watch(tenant)
	defer unwatchOthers()
	if n, err := b.sync.QueueAll(t.Context(), b.Tenant, connectors.TriggerManual, nil); n != many || err != nil {
		t.Fatalf("queued %d, %v", n, err)
	}
	b.queueOf(t, tenant, theirs)
	defer stop(t, b.start(t))

	before, late := 0, time.After(patience)
	for other := false; !other; {
		select {
		case p := <-mine:
			if p.Done {
				before++
			}
		case p := <-others:
			other = p.Done
		case <-late:
			t.Fatalf("%d of the many ended, and not the one", before)
		}
	}
	if before > many/2 {
		t.Errorf("%d of %d ended before the one that was asked for after them", before, many)
	}
}

func TestFairness_OnlyTheFirstFewHavePriority(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for i := range 12 {
		c := b.addConnector(t, "http://127.0.0.1:1/")
		if i < 5 {
			b.queue(t, c)
		}
	}
	if _, err := b.sync.QueueAll(t.Context(), b.Tenant, connectors.TriggerManual, nil); err != nil {
		t.Fatal(err)
	}
	b.queue(t, b.addConnector(t, "http://127.0.0.1:1/"))
	var first, others int
	err := b.Pool.QueryRow(t.Context(), "select count(*) filter (where priority = 1), count(*) filter (where priority = 4) from river_job").Scan(&first, &others)
	if err != nil || first != queue.Few || others != 13-queue.Few {
		t.Errorf("%d come first, %d later, %v", first, others, err)
	}
}
