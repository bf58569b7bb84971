package history_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// hours are the calls that ended in the last two hours, in one.
func (b *bench) hours(t *testing.T) connectors.CallHour {
	t.Helper()
	b.writer.Written(t.Context())
	f, err := b.Door().Figures(t.Context(), time.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return connectors.Whole(f.Periods(time.Now(), 1, 2)).Calls
}

func TestEachCallCountsOnceWhenItEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	long := b.writer.Begin(b.tenant, b.call())
	b.row(t, long.Call().ID) // its beginning is written before its end
	for _, end := range []func(*connectors.ToolCall){
		succeeds("[]"),
		ends(connectors.CallError, connectors.OutcomeTransport, 40*time.Millisecond),
		ends(connectors.CallError, connectors.OutcomeRefused, 0),
		ends(connectors.CallCancelled, connectors.OutcomeCancelled, time.Minute),
	} {
		b.writer.Begin(b.tenant, b.call()).End(end)
	}
	if got := b.hours(t); got.OK != 1 || got.Failed != 2 || got.Other != 1 {
		t.Errorf("while one call goes on: %d ok, %d failed, %d other", got.OK, got.Failed, got.Other)
	}
	long.End(ends(connectors.CallSuccess, connectors.OutcomeOK, time.Second))
	long.End(succeeds("[]")) // a second end is none
	got := b.hours(t)
	if got.OK != 2 || got.Failed != 2 || got.Other != 1 {
		t.Errorf("%d ok, %d failed, %d other", got.OK, got.Failed, got.Other)
	}
	var want connectors.Latencies
	for _, d := range []time.Duration{time.Millisecond, 40 * time.Millisecond, time.Second} { // what no server answered has none
		want[connectors.LatencyBucket(d)]++
	}
	if diff := cmp.Diff(want, got.Latencies); diff != "" {
		t.Errorf("latencies (-want +got):\n%s", diff)
	}
}

func TestAnEndThatIsWrittenAgainDoesNotCountAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	call := store.OwnedCall{Tenant: b.Tenant, ToolCall: b.call()}
	succeeds("[]")(&call.ToolCall)
	for range 2 { // as where the database's answer was lost
		if err := b.St.System().EndCalls(t.Context(), []store.OwnedCall{call}); err != nil {
			t.Fatal(err)
		}
	}
	lost := store.OwnedCall{Tenant: b.Tenant, ToolCall: b.call()}
	ends(connectors.CallError, connectors.OutcomeLost, time.Second)(&lost.ToolCall)
	for range 2 { // the journal of a dead process tells what was closed already
		if err := b.St.System().EndCalls(t.Context(), []store.OwnedCall{lost}); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.hours(t); got.OK != 1 || got.Failed != 1 {
		t.Errorf("%d ok, %d failed", got.OK, got.Failed)
	}
}

func TestCallsThatEndOtherwiseCountToo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	waiting, task, left := b.call(), b.call(), b.call()
	for _, c := range []connectors.ToolCall{waiting, task} {
		if err := b.Door().InsertPendingCall(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Door().EndPendingCall(t.Context(), waiting.ID, store.CallEnd{Status: connectors.CallDenied, Outcome: connectors.OutcomeDenied}); err != nil {
		t.Fatal(err)
	}
	task.Status, task.Outcome, task.Task = connectors.CallSuccess, connectors.OutcomeOK, []byte("{}")
	for range 2 {
		if _, err := b.Door().EndCallTask(t.Context(), task); err != nil {
			t.Fatal(err)
		}
	}
	dead := connectors.InstanceID{UUID: uuid.Must(uuid.NewV7())}
	left.InstanceID = &dead
	if err := b.St.System().BeginCalls(t.Context(), []store.OwnedCall{{Tenant: b.Tenant, ToolCall: left}}); err != nil {
		t.Fatal(err)
	}
	if err := b.St.System().CloseCallsOf(t.Context(), dead); err != nil {
		t.Fatal(err)
	}
	orphan, silent := b.call(), connectors.InstanceID{UUID: uuid.Must(uuid.NewV7())}
	orphan.InstanceID = &silent
	if err := b.St.System().BeginCalls(t.Context(), []store.OwnedCall{{Tenant: b.Tenant, ToolCall: orphan}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := b.St.System().SweepGateway(t.Context(), b.Instance); err != nil {
			t.Fatal(err)
		}
	}
	got := b.hours(t)
	if got.OK != 1 || got.Failed != 2 || got.Other != 1 || got.Latencies.Count() != 0 {
		t.Errorf("%d ok, %d failed, %d other, %d latencies", got.OK, got.Failed, got.Other, got.Latencies.Count())
	}
}

// ends is an end without a result.
func ends(status connectors.CallStatus, outcome connectors.CallOutcome, took time.Duration) func(*connectors.ToolCall) {
	return func(c *connectors.ToolCall) {
		now := time.Now()
		c.Status, c.Outcome, c.CompletedAt, c.Duration = status, outcome, &now, took
	}
}
