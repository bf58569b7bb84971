package store_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// Whoever adds calls may be wrong about what is there: the answer to a try before was lost, or another process wrote a beginning.
func TestCallsThatAreAddedAreWrittenOnceWhateverIsThere(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	calls := batchOf(t, w, 1, 5)
	anew(calls, time.Now())
	add := func(batch []store.OwnedCall, statements int64) {
		t.Helper()
		before := w.Queries()
		if err := w.St.System().AddCalls(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if n := w.Queries() - before; n != statements {
			t.Errorf("%d statements", n)
		}
	}
	begun := calls[4]
	begun.Status, begun.Outcome, begun.CompletedAt, begun.InstanceID = connectors.CallRunning, connectors.OutcomeNone, nil, &w.Instance
	if err := w.St.System().BeginCalls(t.Context(), []store.OwnedCall{begun}); err != nil {
		t.Fatal(err)
	}
	add(calls[:2], 1)
	add(calls[:3], 2) // two are there
	add(calls[3:], 2) // of one the beginning is
	add(calls, 2)
	for _, c := range calls {
		row, err := w.Door().ToolCall(t.Context(), c.ID)
		if err != nil || row.Status != connectors.CallSuccess || string(row.Content) != string(c.Content) || row.RequestID != c.RequestID || row.Duration != c.Duration {
			t.Errorf("row = %+v, %v", row, err)
		}
	}
	var counted int
	w.AsSystem(t, "select sum(ok + failed + other) from call_hours", nil, &counted)
	if check := outcomes(t, w); check.Bad != nil || check.Calls != 5 || counted != 5 {
		t.Errorf("%d calls are counted, on record: %+v", counted, check)
	}
}
