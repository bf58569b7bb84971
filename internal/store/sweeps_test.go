package store_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

var sweepAttempts = map[string]attempt{
	"Syncs.NewestSweep": func(ctx context.Context, o outsider) (bool, error) {
		if _, err := o.Door().Syncs().QueueAll(ctx, connectors.TriggerManual, nil); err != nil {
			return false, err
		}
		sweep, err := o.door.Syncs().NewestSweep(ctx)
		return sweep.Total > 0, err
	},
}

// sweepIs fails the test unless the newest sweep is so far.
func sweepIs(t *testing.T, w *fixture.World, total, ok, failed int) connectors.BulkSync {
	t.Helper()
	sweep, err := w.Door().Syncs().NewestSweep(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := connectors.BulkSync{Total: total, OK: ok, Failed: failed}
	if diff := cmp.Diff(want, sweep, cmpopts.IgnoreFields(connectors.BulkSync{}, "ID", "LastAt")); diff != "" {
		t.Error(diff)
	}
	return sweep
}

func TestASweepTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	sweepIs(t, w, 0, 0, 0)
	for range 3 {
		w.Connector(t)
	}
	w.ConnectorIn(t, w.Other)
	alone := w.Connector(t)
	waiting, err := w.Door().Syncs().Queue(t.Context(), store.NewRun{ConnectorID: alone.ID, Trigger: connectors.TriggerAPI})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := w.Door().Syncs().QueueAll(t.Context(), connectors.TriggerManual, nil); n != 3 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	first := sweepIs(t, w, 4, 0, 0) // with the one that waited already

	run, err := w.Door().Syncs().Start(t.Context(), store.SyncStart{NewRun: store.NewRun{ConnectorID: alone.ID}, Run: &waiting.ID, Instance: w.Instance})
	if err != nil {
		t.Fatal(err)
	}
	sweepIs(t, w, 4, 0, 0)
	if _, err := w.Door().Syncs().Fail(t.Context(), run.ID, connectors.SyncError{Code: "timeout", Message: "It was silent."}, store.ServerObservation{}); err != nil {
		t.Fatal(err)
	}
	if s := sweepIs(t, w, 4, 0, 1); !s.Open() || s.LastAt.IsZero() {
		t.Errorf("%+v", s)
	}

	if n, err := w.Door().Syncs().QueueAll(t.Context(), connectors.TriggerManual, nil); n != 1 || err != nil {
		t.Fatalf("again: %d, %v", n, err)
	}
	if again := sweepIs(t, w, 4, 0, 0); again.ID == first.ID {
		t.Error("the second sweep is the first")
	}
}
