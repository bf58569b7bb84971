package toolcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolcall"
)

// TestEveryEndIsToldOnce has calls end that go on without their request: those who count calls hear of them, too.
func TestEveryEndIsToldOnce(t *testing.T) {
	t.Parallel()
	ends := make(chan connectors.ToolCall, 10)
	b := newBench(t, modern, func(o *toolcall.Options) { o.Ended = func(c connectors.ToolCall) { ends <- c } })
	c := b.connector(t, b.remote)
	b.remote.set(speaksModern(map[string]func(string) string{
		"tools/call":   func(string) string { return `{"resultType":"task","taskId":"own-id","status":"working"}` },
		"tasks/get":    func(string) string { return `{"resultType":"complete","taskId":"own-id","status":"completed"}` },
		"tasks/cancel": func(string) string { return `{"resultType":"complete"}` },
	}))
	a := b.trusted(t, c)
	order := b.order(t, b.process, a, c, "search", "")
	order.Task = true
	want := func(what string, id connectors.ToolCallID, outcome connectors.CallOutcome) {
		t.Helper()
		select {
		case end := <-ends:
			if end.ID != id || end.Outcome != outcome || !end.Status.Ended() {
				t.Errorf("%s: %+v", what, end)
			}
		default:
			t.Errorf("%s: nobody is told", what)
		}
		if len(ends) > 0 {
			t.Errorf("%s: told again", what)
		}
	}

	done, err := b.Call(t.Context(), order)
	must(t, err)
	var task struct{ TaskID string }
	must(t, json.Unmarshal(done.Raw, &task))
	for range 2 {
		_, err = b.TaskRequest(t.Context(), order.View, toolcall.Client{MultiRound: true}, "tasks/get", json.RawMessage(fmt.Sprintf(`{"taskId":%q}`, task.TaskID)))
		must(t, err)
	}
	want("a task that ended", done.CallID, connectors.OutcomeOK)

	left, err := b.Call(t.Context(), order)
	must(t, err)
	_, err = b.Cancel(t.Context(), b.actor(connectors.RoleMember), left.CallID)
	must(t, err)
	want("a task that a person cancelled", left.CallID, connectors.OutcomeCancelled)

	asks := b.granted(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
	answers, id := b.waiting(t, asks, c, b.process)
	_, err = b.Decide(context.WithoutCancel(t.Context()), b.actor(connectors.RoleMember), id, toolcall.Decision{})
	must(t, err)
	wantRefused(t, (<-answers).err, toolcall.CodeDenied)
	want("a call that a person denied", id, connectors.OutcomeDenied)
}

// TestWhatASweepEndsIsToldToo has calls end that nobody ends any more: one that nobody decided about, one of a process that died, and a
// task that nobody asks for.
func TestWhatASweepEndsIsToldToo(t *testing.T) {
	t.Parallel()
	ends := make(chan connectors.ToolCall, 10)
	b := newBench(t, modern, func(o *toolcall.Options) { o.Ended = func(c connectors.ToolCall) { ends <- c } })
	c := b.connector(t, b.remote)
	b.remote.set(speaksModern(map[string]func(string) string{
		"tools/call": func(string) string { return `{"resultType":"task","taskId":"own-id","status":"working"}` },
	}))
	live, stop := b.history.Live(b.Tenant)
	defer stop()
	asks := b.granted(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
	answers, undecided := b.waiting(t, asks, c, b.process)
	order := b.order(t, b.process, b.trusted(t, c), c, "search", "")
	order.Task = true
	forgotten, err := b.Call(t.Context(), order)
	must(t, err)
	dead := b.newProcess(t, fixture.NewInstance()) // it never beats
	lost := dead.history.Begin(connectors.Tenant{ID: b.Tenant}, connectors.ToolCall{
		ID: toolcall.NewCallID(), AgentID: &asks.ID, ConnectorID: &c.ID, Kind: connectors.CallTool, Tool: "search", ExposedName: "search",
		Source: connectors.SourceGateway, Status: connectors.CallRunning, StartedAt: b.clock.now(),
	}).Call().ID
	dead.history.Written(t.Context())
	_, err = b.Pool.Exec(t.Context(), `begin; select set_config('app.system', 'on', true);
		update approvals set expires_at = now() - interval '1 second';
		update tool_calls set started_at = now() - interval '2 days' where task is not null; commit`)
	must(t, err)
	b.Sweep(t.Context())
	wantRefused(t, (<-answers).err, toolcall.CodeCancelled)
	b.Sweep(t.Context())
	told := map[connectors.ToolCallID]connectors.CallOutcome{}
	for range 3 {
		end := <-ends
		told[end.ID] = end.Outcome
	}
	want := map[connectors.ToolCallID]connectors.CallOutcome{
		undecided: connectors.OutcomeRefused, forgotten.CallID: connectors.OutcomeLost, lost: connectors.OutcomeLost,
	}
	if !maps.Equal(told, want) || len(ends) > 0 {
		t.Errorf("told %v and %d more, want %v", told, len(ends), want)
	}
	for heard := map[connectors.ToolCallID]bool{}; len(heard) < 3; {
		if call := <-live; call.Status.Ended() {
			heard[call.ID] = true
		}
	}
}
