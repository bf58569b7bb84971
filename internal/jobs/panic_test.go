package jobs_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/jobs"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/safe"
	"patchbay/internal/safehttp"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/testing/paniclog"
	"patchbay/internal/toolsync"
	"patchbay/internal/webhooks"
)

// The delivery of one tenant's webhook panics in its worker.
func TestJob_PanicIsRetriedAndAffectsNoOther(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	url, ids := receive(t)
	d := b.createDelivery(t, url)
	other, c := b.addNeighbour(t, up.URL)
	events, unwatch := b.sync.Watch(other)
	defer unwatch()
	panicked, first := make(chan struct{}), sync.Once{}
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	post := webhooks.New(webhooks.Options{
		Store: b.St, HTTP: egress.Client(), CheckURL: egress.CheckURL, Jitter: func(time.Duration) time.Duration { return time.Millisecond },
		Now: func() time.Time {
			first.Do(func() {
				defer close(panicked)
				panic("of a test")
			})
			return time.Now()
		},
	})
	before := safe.Count(safe.Job)
	r, err := jobs.New(jobs.Options{
		Pool: b.Pool, ListenPool: b.Pool, Syncer: b.sync, Due: b.St.System().Syncs().DueShards,
		Parts: []jobs.Module{jobs.Webhooks(post, b.St.System(), slog.New(slog.DiscardHandler))},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, r) })
	<-panicked
	b.releaseDeliveries(t)
	run := b.queueOf(t, other, c)
	waitDone(t, events, run.ID)
	wantDelivered(t, ids, d)
	if n := safe.Count(safe.Job) - before; n < 1 {
		t.Errorf("%d panics are counted", n)
	}
}

// releaseDeliveries releases deliveries that a try left locked, or its next job would wait for a minute.
func (b *bundle) releaseDeliveries(t *testing.T) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), b.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "select set_config('app.system', 'on', true)"); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), "update webhook_deliveries set next_at = now()")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The clock's loop panics.
func TestClock_RestartsAfterAPanic(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	c := b.addConnector(t, up.URL)
	b.MakeDue(t)
	events, unwatch := b.sync.Watch(b.Tenant)
	defer unwatch()
	var once sync.Once
	before := safe.Count(safe.Background)
	r, err := jobs.New(jobs.Options{Pool: b.Pool, ListenPool: b.Pool, Syncer: b.sync, Due: func(ctx context.Context, limit int) (map[int]int, error) {
		once.Do(func() { panic("of a test") })
		return b.St.System().Syncs().DueShards(ctx, limit)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer stop(t, r)
	waitSynced(t, events, c.ID)
	if n := safe.Count(safe.Background) - before; n < 1 {
		t.Errorf("%d panics are counted", n)
	}
}

// The loop panics that replaces lost jobs.
func TestJobRescuer_RestartsAfterAPanic(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	b := newBundle(t)
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	killed := b.queue(t, b.addConnector(t, up.URL))
	b.ageQueuedRun(t, killed, fixture.NewInstance())
	events, unwatch := b.sync.Watch(b.Tenant)
	defer unwatch()
	waitForPanic := b.PanicBelow(t, "(*jobRescuer).rescueOnce", 1)
	defer stop(t, b.start(t))
	waitForPanic()
	waitDone(t, events, killed.ID)
	panics.Want(t, safe.Background, "(*jobRescuer).rescueOnce")
}

// The loop panics that announces returning jobs, and nothing else would.
func TestSnoozeNotifier_RestartsAfterAPanic(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	b := newBundle(t)
	stuck := newHungServer(t)
	c := b.addConnector(t, stuck.URL)
	events, unwatch := b.sync.Watch(b.Tenant)
	defer unwatch()
	r := b.startWithoutPolls(t)
	defer stop(t, r)
	defer stuck.free()
	wentBack, unsubscribe := r.WatchSnoozes()
	defer unsubscribe()
	first := make(chan error, 1)
	go func() {
		_, err := b.sync.Sync(t.Context(), b.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerManual})
		first <- err
	}()
	<-stuck.asked
	waitForPanic := b.PanicBelow(t, "(*snoozeNotifier).notifyQueues", 1)
	second := b.queue(t, c)
	<-wentBack
	waitForPanic()
	stuck.free()
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	waitDone(t, events, second.ID)
	panics.Want(t, safe.Background, "(*snoozeNotifier).notifyQueues")
}
