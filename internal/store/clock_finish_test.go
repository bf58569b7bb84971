package store_test

import (
	"errors"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestFinishClaimed_StoresRunOnlyAtEnd(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "search")
	for range 2 {
		w.MakeDue(t)
		unchanged(t, w, claimDue(t, w, w.Instance, 10), "search")
	}
	w.MakeDue(t)
	r := store.ClaimedRun{ID: store.NewSyncRunID(), Claim: claimDue(t, w, w.Instance, 10)[0], Began: time.Now()}
	other := fixture.FirstResult(fixture.Definition("other"))

	run, err := w.Door().Syncs().FinishClaimed(t.Context(), r, other)
	if err != nil || run.FinishedAt == nil || run.Counts.Added != 1 {
		t.Fatalf("run = %+v, %v", run, err)
	}
	again, err := w.Door().Syncs().FinishClaimed(t.Context(), r, other) // the answer was lost
	if err != nil || again.ID != run.ID || again.Counts != run.Counts {
		t.Errorf("the second try = %+v, %v", again, err)
	}
	if runs := runsOf(t, w, c.ID); len(runs) != 3 || runs[0].ID != run.ID || runs[1].Repeats != 1 {
		t.Errorf("runs = %+v", runs)
	}
	w.MakeDue(t)
	if len(claimDue(t, w, w.Instance, 10)) != 1 {
		t.Error("the run's end did not give the connector free")
	}
}

func TestFinishClaimed_LostClaimWritesNothing(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "search")
	dead := fixture.NewInstance() // it never beat
	w.MakeDue(t)
	lost := claimDue(t, w, dead, 10)[0]
	mine := claimDue(t, w, w.Instance, 10)

	r := store.ClaimedRun{ID: store.NewSyncRunID(), Claim: lost, Began: time.Now()}
	if _, err := w.Door().Syncs().FinishClaimed(t.Context(), r, fixture.FirstResult(fixture.Definition("other"))); !fault.Is(err, fault.NotFound) {
		t.Errorf("the dead one's list was stored: %v", err)
	}
	if _, err := w.Door().Tools().Get(t.Context(), c.ID, "other"); !fault.Is(err, fault.NotFound) {
		t.Errorf("the dead one's tool is there: %v", err)
	}
	unchanged(t, w, mine, "search")
}

func TestFinishClaimed_OutdatedComparisonWritesNothing(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "search")
	w.MakeDue(t)
	r := store.ClaimedRun{ID: store.NewSyncRunID(), Claim: claimDue(t, w, w.Instance, 10)[0], Began: time.Now()}
	found := fixture.FirstResult(fixture.Definition("other"))
	found.Diff.Policy = connectors.ToolChangesAuto // the connector has another one now
	if _, err := w.Door().Syncs().FinishClaimed(t.Context(), r, found); !errors.Is(err, store.ErrOutdated) {
		t.Fatalf("under another policy: %v", err)
	}
	if _, err := w.Door().Tools().Get(t.Context(), c.ID, "other"); !fault.Is(err, fault.NotFound) {
		t.Errorf("the tool is there: %v", err)
	}
	found.Diff.Policy = c.ToolChanges
	if _, err := w.Door().Syncs().FinishClaimed(t.Context(), r, found); err != nil {
		t.Errorf("compared again: %v", err)
	}
}
