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

func TestOnEnd_CalledOncePerCall(t *testing.T) {
	t.Parallel()
	ended := make(chan connectors.ToolCall, 10)
	b := newBench(t, withModernDialer, func(o *toolcall.Options) { o.OnEnd = func(c connectors.ToolCall) { ended <- c } })
	c := b.connector(t, b.remote)
	b.remote.set(answerModern(map[string]func(string) string{
		"tools/call":   func(string) string { return `{"resultType":"task","taskId":"own-id","status":"working"}` },
		"tasks/get":    func(string) string { return `{"resultType":"complete","taskId":"own-id","status":"completed"}` },
		"tasks/cancel": func(string) string { return `{"resultType":"complete"}` },
	}))
	a := b.newTrustedAgent(t, c)
	request := b.order(t, b.process, a, c, "search", "")
	request.Task = true
	want := func(what string, id connectors.ToolCallID, outcome connectors.CallOutcome) {
		t.Helper()
		select {
		case call := <-ended:
			if call.ID != id || call.Outcome != outcome || !call.Status.Ended() {
				t.Errorf("%s: %+v", what, call)
			}
		default:
			t.Errorf("%s: nobody is told", what)
		}
		if len(ended) > 0 {
			t.Errorf("%s: told again", what)
		}
	}

	done, err := b.Call(t.Context(), request)
	must(t, err)
	var task struct{ TaskID string }
	must(t, json.Unmarshal(done.Raw, &task))
	for range 2 {
		_, err = b.TaskRequest(t.Context(), request.View, toolcall.Client{MultiRound: true}, "tasks/get", json.RawMessage(fmt.Sprintf(`{"taskId":%q}`, task.TaskID)))
		must(t, err)
	}
	want("a task that ended", done.CallID, connectors.OutcomeOK)

	cancelled, err := b.Call(t.Context(), request)
	must(t, err)
	_, err = b.Cancel(t.Context(), b.actor(connectors.RoleMember), cancelled.CallID)
	must(t, err)
	want("a task that a person cancelled", cancelled.CallID, connectors.OutcomeCancelled)

	reviewed := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
	answers, id := b.startWaiting(t, reviewed, c, b.process)
	_, err = b.Decide(context.WithoutCancel(t.Context()), b.actor(connectors.RoleMember), id, toolcall.Decision{})
	must(t, err)
	wantRefused(t, receive(t, answers).err, toolcall.CodeDenied)
	want("a call that a person denied", id, connectors.OutcomeDenied)
}

// The calls: one not decided, one of a dead process, one with an unpolled task.
func TestSweep_ReportsEndedCalls(t *testing.T) {
	t.Parallel()
	ended := make(chan connectors.ToolCall, 10)
	b := newBench(t, withModernDialer, func(o *toolcall.Options) { o.OnEnd = func(c connectors.ToolCall) { ended <- c } })
	c := b.connector(t, b.remote)
	b.remote.set(answerModern(map[string]func(string) string{
		"tools/call": func(string) string { return `{"resultType":"task","taskId":"own-id","status":"working"}` },
	}))
	live, stop := b.history.Subscribe(b.Tenant)
	defer stop()
	reviewed := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
	answers, undecided := b.startWaiting(t, reviewed, c, b.process)
	request := b.order(t, b.process, b.newTrustedAgent(t, c), c, "search", "")
	request.Task = true
	abandoned, err := b.Call(t.Context(), request)
	must(t, err)
	dead := b.newProcess(t, fixture.NewInstance()) // without heartbeat
	lost := dead.history.Begin(connectors.Tenant{ID: b.Tenant}, connectors.ToolCall{
		ID: toolcall.NewCallID(), AgentID: &reviewed.ID, ConnectorID: &c.ID, Kind: connectors.CallTool, Tool: "search", ExposedName: "search",
		Source: connectors.SourceGateway, Status: connectors.CallRunning, StartedAt: b.clock.now(),
	}).Call().ID
	dead.history.Flush(t.Context())
	_, err = b.Pool.Exec(t.Context(), `begin; select set_config('app.system', 'on', true);
		update approvals set expires_at = now() - interval '1 second';
		update tool_calls set started_at = now() - interval '2 days' where task is not null; commit`)
	must(t, err)
	b.Sweep(t.Context())
	wantRefused(t, receive(t, answers).err, toolcall.CodeCancelled)
	b.Sweep(t.Context())
	reported := map[connectors.ToolCallID]connectors.CallOutcome{}
	for range 3 {
		call := receive(t, ended)
		reported[call.ID] = call.Outcome
	}
	want := map[connectors.ToolCallID]connectors.CallOutcome{
		undecided: connectors.OutcomeRefused, abandoned.CallID: connectors.OutcomeLost, lost: connectors.OutcomeLost,
	}
	if !maps.Equal(reported, want) || len(ended) > 0 {
		t.Errorf("told %v and %d more, want %v", reported, len(ended), want)
	}
	for published := map[connectors.ToolCallID]bool{}; len(published) < 3; {
		if call := receive(t, live); call.Status.Ended() {
			published[call.ID] = true
		}
	}
}
