package store_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestOfManySyncsThatStartTogetherOneWins(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	var won, refused atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			_, err := w.Door().Syncs().Start(t.Context(), w.Start(c.ID))
			switch f := fault.As(err); {
			case err == nil:
				won.Add(1)
			case f.Kind == fault.Conflict && f.Type == store.TypeSyncRunning:
				refused.Add(1)
			default:
				t.Errorf("start: %v", err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 || refused.Load() != 15 {
		t.Errorf("%d won and %d were refused, want 1 and 15", won.Load(), refused.Load())
	}
}

func TestOfManyStartsOfAQueuedRunOneWins(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	queued := queue(t, w, c.ID)
	var won atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := w.Door().Syncs().Start(t.Context(), store.SyncStart{Run: &queued.ID, Instance: w.Instance})
			if err == nil {
				won.Add(1)
			} else {
				wantKind(t, err, fault.Conflict)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d won, want 1", won.Load())
	}
}

func TestStartingASyncIsOneStatement(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	before := w.Queries()
	w.Run(t, c.ID)
	if got := w.Queries() - before; got != 1 {
		t.Errorf("starting took %d statements, want 1", got)
	}
}

func TestARunOfADeadProcessBlocksNoLaterOne(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	dead := w.Start(c.ID)
	dead.Instance = fixture.NewInstance() // it never beat
	orphan, err := w.Door().Syncs().Start(t.Context(), dead)
	if err != nil {
		t.Fatal(err)
	}

	if _, err := w.Door().Syncs().Start(t.Context(), w.Start(c.ID)); err != nil {
		t.Fatalf("a dead process's run blocks: %v", err)
	}
	got, err := w.Door().Syncs().Get(t.Context(), orphan.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.State != connectors.SyncFailed || got.ErrorCode != "interrupted" || got.FinishedAt == nil {
		t.Errorf("the orphan is %+v, want a failed run", got)
	}
}

func TestARunOfAnotherLivingProcessBlocks(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Run(t, c.ID)
	other := fixture.NewInstance()
	if err := w.St.System().Syncs().Heartbeat(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	start := w.Start(c.ID)
	start.Instance = other
	_, err := w.Door().Syncs().Start(t.Context(), start)
	wantKind(t, err, fault.Conflict)
}

func TestABeatClosesTheRunsOfSilentProcesses(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	mine, theirs := w.Run(t, w.Connector(t).ID), w.Connector(t)
	start := w.Start(theirs.ID)
	start.Instance = fixture.NewInstance()
	if err := w.St.System().Syncs().Heartbeat(t.Context(), start.Instance); err != nil {
		t.Fatal(err)
	}
	orphan, err := w.Door().Syncs().Start(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}

	beat(t, w)
	wantState(t, w, orphan.ID, connectors.SyncRunning)
	if err := asSystem(t.Context(), w.Pool, "update instances set beat_at = now() - interval '7 seconds' where id = $1", []any{start.Instance}); err != nil {
		t.Fatal(err)
	}
	beat(t, w)
	wantState(t, w, orphan.ID, connectors.SyncFailed)
	wantState(t, w, mine.ID, connectors.SyncRunning)
}

func TestInstances_EndClosesRuns(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	run := w.Run(t, w.Connector(t).ID)
	if err := w.St.System().Syncs().EndInstance(t.Context(), w.Instance); err != nil {
		t.Fatal(err)
	}
	wantState(t, w, run.ID, connectors.SyncFailed)

	run = w.Run(t, w.Connector(t).ID)
	if err := w.St.System().Syncs().CloseAllInstances(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantState(t, w, run.ID, connectors.SyncFailed)
}

func TestASyncIsQueuedOnceWithItsJob(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	first, second := queue(t, w, c.ID), queue(t, w, c.ID)
	if first.ID != second.ID {
		t.Error("a second run was queued beside the first")
	}
	if n := jobs(t, w); n != 1 {
		t.Errorf("%d jobs, want 1", n)
	}

	run, err := w.Door().Syncs().Start(t.Context(), store.SyncStart{Run: &first.ID, Instance: w.Instance})
	if err != nil {
		t.Fatal(err)
	}
	if run.ID != first.ID || run.State != connectors.SyncRunning || run.StartedAt == nil {
		t.Errorf("started run = %+v", run)
	}
	_, err = w.Door().Syncs().Start(t.Context(), store.SyncStart{Run: &first.ID, Instance: w.Instance})
	if f := fault.As(err); f == nil || f.Type != store.TypeSyncTaken {
		t.Errorf("a second start of a queued run: %v, want %s", err, store.TypeSyncTaken)
	}

	later := queue(t, w, c.ID)
	_, err = w.Door().Syncs().Start(t.Context(), store.SyncStart{Run: &later.ID, Instance: w.Instance})
	if f := fault.As(err); f == nil || f.Type != store.TypeSyncRunning {
		t.Errorf("a queued run while another runs: %v, want %s", err, store.TypeSyncRunning)
	}
	wantState(t, w, later.ID, connectors.SyncQueued)
}

func TestQueueSync_JobRollsBack(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	err := w.Door().Tx(t.Context(), func(tx *store.Tenant) error {
		if _, err := tx.Syncs().Queue(t.Context(), store.NewRun{ConnectorID: c.ID, Trigger: connectors.TriggerAPI}); err != nil {
			t.Fatal(err)
		}
		return context.Canceled
	})
	if err == nil {
		t.Fatal("the transaction committed")
	}
	if n := jobs(t, w); n != 0 {
		t.Errorf("%d jobs, want none", n)
	}
}

func TestQueueAllSyncs_ConstantStatements(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for range 12 {
		w.Connector(t)
	}
	w.Connector(t, func(d *connectors.Draft) { d.Enabled = false })
	waiting := w.Connector(t)
	queue(t, w, waiting.ID)
	w.ConnectorIn(t, w.Other)

	before := w.Queries()
	n, err := w.Door().Syncs().QueueAll(t.Context(), connectors.TriggerManual, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n != 12 {
		t.Errorf("queued %d, want 12", n)
	}
	if got := w.Queries() - before; got > 3 {
		t.Errorf("queueing 12 connectors took %d statements, want at most 3", got)
	}
	if n := jobs(t, w); n != 13 {
		t.Errorf("%d jobs, want 13", n)
	}
}

func TestSyncRunsAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	var want []connectors.SyncRunID
	for range 5 {
		want = append([]connectors.SyncRunID{w.Synced(t, c.ID).ID}, want...)
	}
	var got []connectors.SyncRunID
	page := store.Page{Limit: 2}
	for {
		list, err := w.Door().Syncs().List(t.Context(), c.ID, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.Items {
			got = append(got, r.ID)
		}
		if page.Cursor = list.Next; page.Cursor == "" {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestAConnectorShowsTheRunThatIsUnderWay(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	run := w.Run(t, c.ID)
	got, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug))
	if err != nil {
		t.Fatal(err)
	}
	if got.Running == nil || *got.Running != run.ID {
		t.Errorf("running = %v, want %s", got.Running, run.ID)
	}
	if run.StartedAt == nil || time.Since(*run.StartedAt) > time.Minute {
		t.Errorf("started at %v", run.StartedAt)
	}
}

func queue(t *testing.T, w *fixture.World, id connectors.ConnectorID) connectors.SyncRun {
	t.Helper()
	run, err := w.Door().Syncs().Queue(t.Context(), store.NewRun{ConnectorID: id, Trigger: connectors.TriggerAPI})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func jobs(t *testing.T, w *fixture.World) (n int) {
	t.Helper()
	if err := w.Pool.QueryRow(t.Context(), "select count(*) from river_job").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func beat(t *testing.T, w *fixture.World) {
	t.Helper()
	if err := w.St.System().Syncs().Heartbeat(t.Context(), w.Instance); err != nil {
		t.Fatal(err)
	}
}

func wantState(t *testing.T, w *fixture.World, id connectors.SyncRunID, want connectors.SyncState) {
	t.Helper()
	run, err := w.Door().Syncs().Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if run.State != want {
		t.Errorf("run is %s, want %s", run.State, want)
	}
}
