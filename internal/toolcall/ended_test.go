package toolcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"patchbay/internal/connectors"
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
