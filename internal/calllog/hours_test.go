package calllog_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// recentHours sums the last two hours.
func (b *writerTest) recentHours(t *testing.T) connectors.CallHour {
	t.Helper()
	b.writer.Flush(t.Context())
	f, err := b.Door().Calls().Figures(t.Context(), time.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return connectors.TotalPeriod(f.Periods(time.Now(), 1, 2)).Calls
}

func TestHours_EachCallCountsOnce(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	long := b.writer.Begin(b.tenant, b.newCall())
	b.findCall(t, long.Call().ID) // its beginning is stored first
	for _, end := range []func(*connectors.ToolCall){
		succeedWith("[]"),
		endWith(connectors.CallError, connectors.OutcomeTransport, 40*time.Millisecond),
		endWith(connectors.CallError, connectors.OutcomeRefused, 0),
		endWith(connectors.CallCancelled, connectors.OutcomeCancelled, time.Minute),
	} {
		b.writer.Begin(b.tenant, b.newCall()).End(end)
	}
	if got := b.recentHours(t); got.OK != 1 || got.Failed != 2 || got.Other != 1 {
		t.Errorf("while one call goes on: %d ok, %d failed, %d other", got.OK, got.Failed, got.Other)
	}
	long.End(endWith(connectors.CallSuccess, connectors.OutcomeOK, time.Second))
	long.End(succeedWith("[]")) // ignored
	got := b.recentHours(t)
	if got.OK != 2 || got.Failed != 2 || got.Other != 1 {
		t.Errorf("%d ok, %d failed, %d other", got.OK, got.Failed, got.Other)
	}
	var want connectors.Latencies
	for _, d := range []time.Duration{time.Millisecond, 40 * time.Millisecond, time.Second} { // unanswered calls have none
		want[connectors.LatencyBucket(d)]++
	}
	if diff := cmp.Diff(want, got.Latencies); diff != "" {
		t.Errorf("latencies (-want +got):\n%s", diff)
	}
}

func TestHours_RepeatedEndDoesNotCount(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	call := store.OwnedCall{Tenant: b.Tenant, ToolCall: b.newCall()}
	succeedWith("[]")(&call.ToolCall)
	for range 2 { // as after a lost response of the database
		if err := b.St.System().Calls().EndCalls(t.Context(), []store.OwnedCall{call}); err != nil {
			t.Fatal(err)
		}
	}
	lost := store.OwnedCall{Tenant: b.Tenant, ToolCall: b.newCall()}
	endWith(connectors.CallError, connectors.OutcomeLost, time.Second)(&lost.ToolCall)
	for range 2 { // as from a journal with calls that were closed before
		if err := b.St.System().Calls().EndCalls(t.Context(), []store.OwnedCall{lost}); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.recentHours(t); got.OK != 1 || got.Failed != 1 {
		t.Errorf("%d ok, %d failed", got.OK, got.Failed)
	}
}

func TestHours_OtherOutcomesCount(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	waiting, task, left := b.newCall(), b.newCall(), b.newCall()
	for _, c := range []connectors.ToolCall{waiting, task} {
		if err := b.Door().Calls().InsertPendingCall(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Door().Calls().EndPendingCall(t.Context(), waiting.ID, store.CallEnd{Status: connectors.CallDenied, Outcome: connectors.OutcomeDenied}); err != nil {
		t.Fatal(err)
	}
	task.Status, task.Outcome, task.Task = connectors.CallSuccess, connectors.OutcomeOK, []byte("{}")
	for range 2 {
		if _, err := b.Door().Calls().EndCallTask(t.Context(), task); err != nil {
			t.Fatal(err)
		}
	}
	dead := connectors.InstanceID{UUID: uuid.Must(uuid.NewV7())}
	left.InstanceID = &dead
	if err := b.St.System().Calls().BeginCalls(t.Context(), []store.OwnedCall{{Tenant: b.Tenant, ToolCall: left}}); err != nil {
		t.Fatal(err)
	}
	if err := b.St.System().Calls().CloseInstanceCalls(t.Context(), dead); err != nil {
		t.Fatal(err)
	}
	orphan, silent := b.newCall(), connectors.InstanceID{UUID: uuid.Must(uuid.NewV7())}
	orphan.InstanceID = &silent
	if err := b.St.System().Calls().BeginCalls(t.Context(), []store.OwnedCall{{Tenant: b.Tenant, ToolCall: orphan}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := b.St.System().Calls().SweepGateway(t.Context(), b.Instance); err != nil {
			t.Fatal(err)
		}
	}
	got := b.recentHours(t)
	if got.OK != 1 || got.Failed != 2 || got.Other != 1 || got.Latencies.Count() != 0 {
		t.Errorf("%d ok, %d failed, %d other, %d latencies", got.OK, got.Failed, got.Other, got.Latencies.Count())
	}
}

// endWith ends a call without a result.
func endWith(status connectors.CallStatus, outcome connectors.CallOutcome, took time.Duration) func(*connectors.ToolCall) {
	return func(c *connectors.ToolCall) {
		now := time.Now()
		c.Status, c.Outcome, c.CompletedAt, c.Duration = status, outcome, &now, took
	}
}
