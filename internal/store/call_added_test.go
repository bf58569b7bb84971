package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// AddCalls may be wrong about what is stored: a response was lost, or another process wrote a beginning.
func TestAddCalls_WritesEachCallOnce(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	calls := batchOf(t, w, 1, 5)
	anew(calls, time.Now())
	add := func(batch []store.OwnedCall, statements int64) {
		t.Helper()
		before := w.Queries()
		if err := w.St.System().Calls().AddCalls(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if n := w.Queries() - before; n != statements {
			t.Errorf("%d statements", n)
		}
	}
	begun := calls[4]
	begun.Status, begun.Outcome, begun.CompletedAt, begun.InstanceID = connectors.CallRunning, connectors.OutcomeNone, nil, &w.Instance
	if err := w.St.System().Calls().BeginCalls(t.Context(), []store.OwnedCall{begun}); err != nil {
		t.Fatal(err)
	}
	add(calls[:2], 1)
	add(calls[:3], 2) // two are there
	add(calls[3:], 2) // of one the beginning is
	add(calls, 2)
	for _, c := range calls {
		row, err := w.Door().Calls().Get(t.Context(), c.ID)
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

// Both statements count alike, in the program or in PostgreSQL.
func TestCallsThatAreAddedCountAsThoseThatEnd(t *testing.T) {
	t.Parallel()
	var batches [2][]string
	for i, write := range []func(store.SystemCalls, context.Context, []store.OwnedCall) error{store.SystemCalls.AddCalls, store.SystemCalls.EndCalls} {
		w := fixture.New(t)
		calls := allEnds(t, w)
		if err := write(w.St.System().Calls(), t.Context(), calls); err != nil {
			t.Fatal(err)
		}
		var of string
		w.AsSystem(t, `select string_agg(format('%s %s: %s %s %s', extract(epoch from hour), bucket, ok, failed, other), ', ' order by hour, bucket) from call_hours`, nil, &of)
		batches[i] = strings.Split(of, ", ")
	}
	if diff := cmp.Diff(batches[1], batches[0]); diff != "" || len(batches[0]) < 10 {
		t.Errorf("%d hours and buckets (-ended +added):\n%s", len(batches[0]), diff)
	}
}

// allEnds are calls of each end that there is, sent at once, after a person's word and as a task, of several hours and times.
func allEnds(t *testing.T, w *fixture.World) (calls []store.OwnedCall) {
	t.Helper()
	a, c := w.Agent(t), w.Connector(t)
	hour := time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)
	ends := []connectors.CallOutcome{
		connectors.OutcomeOK, connectors.OutcomeToolError, connectors.OutcomeRPCError, connectors.OutcomeTransport, connectors.OutcomeRefused,
		connectors.OutcomeDenied, connectors.OutcomeCancelled, connectors.OutcomeLost, connectors.OutcomeNone,
	}
	for i, outcome := range ends {
		for j, status := range []connectors.CallStatus{connectors.CallSuccess, connectors.CallError, connectors.CallDenied, connectors.CallCancelled} {
			for k := range 3 {
				at := hour.Add(time.Duration(i)*20*time.Minute + time.Duration(j)*time.Microsecond - time.Microsecond)
				call := callAt(w, a, c, "search", at)
				call.Outcome, call.Status, call.Duration = outcome, status, time.Duration(1+i*j)*333*time.Microsecond
				switch k {
				case 1:
					call.ApprovedBy = "someone@example.com"
				case 2:
					call.Task = []byte(`{"taskId":"1"}`)
				}
				calls = append(calls, call)
			}
		}
	}
	return calls
}

// Calls are locked before their hour, as all writers of calls do.
func TestTheSumsOfAnHourAreHeldBehindTheCalls(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	calls := batchOf(t, w, 1, 2)
	at := time.Now()
	for i := range calls {
		calls[i].CompletedAt, calls[i].Duration = &at, time.Millisecond
	}
	if err := w.St.System().Calls().AddCalls(t.Context(), calls[:1]); err != nil {
		t.Fatal(err)
	}
	other, err := w.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Rollback(context.Background()) }()
	_, err = other.Exec(t.Context(), `select set_config('app.system', 'on', true)`)
	if err == nil {
		_, err = other.Exec(t.Context(), `insert into tool_calls (tenant_id, id, agent_slug, connector_slug, tool, exposed_name, status, started_at)
			values ($1, $2, '', '', '', '', 'running', now())`, w.Tenant, calls[1].ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	added := make(chan error, 1)
	go func() { added <- w.St.System().Calls().AddCalls(t.Context(), calls[1:]) }()
	waiting(t, w, 1)
	var free int
	w.AsSystem(t, `select count(*) from (select from call_hours for update skip locked) free`, nil, &free)
	if err := other.Rollback(t.Context()); err != nil || free != 1 {
		t.Errorf("%d hours are free, %v", free, err)
	}
	if err := <-added; err != nil {
		t.Error(err)
	}
}
