package store_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// makeDue moves the next sync of every connector of every tenant into the past.
func makeDue(t *testing.T, w *fixture.World) {
	t.Helper()
	if err := asSystem(t.Context(), w.Pool, "update connectors set next_sync_at = now() - interval '1 second' where next_sync_at is not null", nil); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsDueIsQueuedOnceForAllTenants(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	mine, theirs := w.Connector(t), w.ConnectorIn(t, w.Other)
	never := w.Connector(t, func(d *connectors.Draft) { d.SyncInterval = 0 })
	disabled := w.Connector(t, func(d *connectors.Draft) { d.Enabled = false })
	if n, err := w.St.System().QueueDue(t.Context(), 10); err != nil || n != 0 {
		t.Fatalf("before anything is due: %d, %v", n, err)
	}
	makeDue(t, w)

	if n, err := w.St.System().QueueDue(t.Context(), 10); err != nil || n != 2 {
		t.Errorf("claimed %d, %v; two are due", n, err)
	}
	if n, err := w.St.System().QueueDue(t.Context(), 10); err != nil || n != 0 {
		t.Errorf("claimed %d again, %v", n, err)
	}
	for _, c := range []struct {
		door *store.Tenant
		id   connectors.ConnectorID
		want int
	}{{w.Door(), mine.ID, 1}, {w.OtherDoor(), theirs.ID, 1}, {w.Door(), never.ID, 0}, {w.Door(), disabled.ID, 0}} {
		runs, err := c.door.SyncRuns(t.Context(), c.id, store.Page{})
		if err != nil || len(runs.Items) != c.want {
			t.Errorf("%s has %d runs, want %d (%v)", c.id, len(runs.Items), c.want, err)
			continue
		}
		if c.want == 1 && (runs.Items[0].State != connectors.SyncQueued || runs.Items[0].Trigger != connectors.TriggerSchedule) {
			t.Errorf("run = %+v", runs.Items[0])
		}
	}
}

func TestAConnectorThatWaitsForAPersonIsNotSyncedByItself(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	run := w.Run(t, c.ID)
	if _, err := w.Door().FailSync(t.Context(), run.ID, connectors.SyncError{Code: "unauthorized", Message: "The server refused the credential."}, store.Seen{}); err != nil {
		t.Fatal(err)
	}
	makeDue(t, w)
	if n, err := w.St.System().QueueDue(t.Context(), 10); err != nil || n != 0 {
		t.Errorf("claimed %d, %v", n, err)
	}
}

func TestReplicasShareWhatIsDue(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	const due = 23
	for range due {
		w.Connector(t)
	}
	makeDue(t, w)
	var claimed atomic.Int64
	var replicas sync.WaitGroup
	for range 4 {
		replicas.Go(func() {
			for {
				n, err := w.St.System().QueueDue(t.Context(), 3)
				if err != nil {
					t.Error(err)
				}
				claimed.Add(int64(n))
				if n < 3 {
					return
				}
			}
		})
	}
	replicas.Wait()
	// Rows that another replica holds are skipped, so that one may stop early; what it left is claimed by the next sweep.
	rest, err := w.St.System().QueueDue(t.Context(), due)
	if err != nil || claimed.Load()+int64(rest) != due {
		t.Errorf("claimed %d and then %d of %d (%v)", claimed.Load(), rest, due, err)
	}
}
