package toolcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/toolcall"
)

// returnTask answers each call with a task, which goes through the states; the last one stays. requests, if
// set, receives the requests about it.
func returnTask(requests chan<- string, states ...string) func(http.ResponseWriter, *http.Request, message) bool {
	var polls atomic.Int64
	record := func(what, params string) string {
		if requests != nil {
			requests <- what + params
		}
		return `{"resultType":"complete"}`
	}
	return answerModern(map[string]func(string) string{
		"tools/call": func(string) string {
			return `{"resultType":"task","taskId":"own-id","status":"working","pollIntervalMs":100}`
		},
		"tasks/get": func(string) string {
			record("get", "")
			n := min(int(polls.Add(1)), len(states))
			return `{"resultType":"complete","taskId":"own-id","pollIntervalMs":100,` + states[n-1] + `}`
		},
		"tasks/update": func(params string) string { return record("update", params) },
		"tasks/cancel": func(params string) string { return record("cancel", params) },
	})
}

const completedTask = `"status":"completed","result":{"content":[{"type":"text","text":"done"}],"x":12345678901234567890}`

func TestTask_AwaitedForClientWithoutTasks(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	b.remote.set(returnTask(nil, `"status":"working","statusMessage":"half"`, `"status":"working","statusMessage":"half"`, completedTask))
	request := b.order(t, b.process, b.newTrustedAgent(t, c), c, "search", "")
	var progress []string
	request.Progress = func(params json.RawMessage) { progress = append(progress, string(params)) }
	out, err := b.Call(t.Context(), request)
	must(t, err)
	if want := `{"content":[{"type":"text","text":"done"}],"x":12345678901234567890}`; out.Task || string(out.Raw) != want {
		t.Errorf("raw = %s", out.Raw)
	}
	if strings.Join(progress, " ") != `{"progress":0} {"progress":1,"message":"half"}` {
		t.Errorf("progress = %s", progress)
	}
	if row := b.row(t, out.CallID); row.Status != connectors.CallSuccess || string(row.Content) != `[{"type":"text","text":"done"}]` || !strings.Contains(string(row.Task), `"completed"`) {
		t.Errorf("row = %+v", row)
	}
	b.remote.wantCalls(t, 1)
}

func TestTask_EndFinishesCall(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	request := b.order(t, b.process, b.newTrustedAgent(t, c), c, "search", "")
	callWith := func(state string) (toolcall.Outcome, error) {
		b.remote.set(returnTask(nil, state))
		return b.Call(t.Context(), request)
	}
	out, err := callWith(`"status":"completed","result":{"content":[],"isError":true}`)
	must(t, err)
	if row := b.row(t, out.CallID); !out.IsError || row.Outcome != connectors.OutcomeToolError {
		t.Errorf("%+v", row)
	}
	_, err = callWith(`"status":"failed","error":{"code":-32603,"message":"remote words"}`)
	if failure, ok := err.(*mcp.Error); !ok || failure.RPC == nil || failure.RPC.Code != -32603 {
		t.Errorf("failed: %v", err)
	}
	for _, state := range []string{
		`"status":"completed","result":{"resultType":"task","taskId":"another","status":"working"}`,
		`"status":"completed","result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{}}}}`,
		`"status":"failed"`, `"status":"cancelled"`, `"status":"input_required","inputRequests":{"k":{"method":"roots/list"}}`,
	} {
		_, err = callWith(state)
		wantRefused(t, err, toolcall.CodeUpstream)
	}
}

func TestTask_CancelledWhenCallerLeaves(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		timeout time.Duration
		end     func(*bench, context.CancelFunc)
		code    toolcall.Code
	}{
		"its time is over":   {time.Second, func(*bench, context.CancelFunc) {}, toolcall.CodeTimeout},
		"its client cancels": {time.Minute, func(_ *bench, cancel context.CancelFunc) { cancel() }, toolcall.CodeCancelled},
		"the process stops":  {time.Minute, func(b *bench, _ context.CancelFunc) { b.stopNow() }, toolcall.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, withModernDialer)
			c := b.connector(t, b.remote, func(d *connectors.Draft) { d.Timeout = tc.timeout })
			requests := make(chan string, 100)
			b.remote.set(returnTask(requests, `"status":"working"`))
			request := b.order(t, b.process, b.newTrustedAgent(t, c), c, "search", "")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			results := make(chan error, 1)
			go func() {
				_, err := b.Call(ctx, request)
				results <- err
			}()
			receive(t, requests)
			tc.end(b, cancel)
			wantRefused(t, receive(t, results), tc.code)
			last := receive(t, requests)
			for strings.HasPrefix(last, "get") {
				last = receive(t, requests)
			}
			if !strings.HasPrefix(last, "cancel") || !strings.Contains(last, `"taskId":"own-id"`) {
				t.Errorf("heard %s", last)
			}
		})
	}
}

// stopNow stops the process without waiting.
func (b *bench) stopNow() {
	doneCtx, cancel := context.WithCancel(context.Background())
	cancel()
	go b.Stop(doneCtx)
}

func TestTask_AsksClientDuringCall(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	requests := make(chan string, 10)
	b.remote.set(returnTask(requests, `"status":"input_required","inputRequests":{"k":{"method":"roots/list","params":{}}}`, completedTask))
	request := b.order(t, b.process, b.newTrustedAgent(t, c), c, "search", "")
	request.Capabilities = json.RawMessage(`{"roots":{}}`)
	request.SendRequest = func(_ context.Context, r mcp.InputRequest) (json.RawMessage, error) {
		return json.RawMessage(fmt.Sprintf(`{"asked":%q}`, r.Method)), nil
	}
	out, err := b.Call(t.Context(), request)
	must(t, err)
	if out.Task || !strings.Contains(string(out.Raw), "done") {
		t.Errorf("raw = %s", out.Raw)
	}
	receive(t, requests)
	if params := receive(t, requests); !strings.Contains(params, `"inputResponses":{"k":{"asked":"roots/list"}}`) {
		t.Errorf("tasks/update of %s", params)
	}
}

func TestTask_AwaitedAfterApproval(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	a := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
	b.remote.set(returnTask(nil, completedTask))
	answers, id := b.startWaiting(t, a, c, b.process)
	b.approve(t, b.process, id)
	got := receive(t, answers)
	must(t, got.err)
	if got.out.Task || !strings.Contains(string(got.out.Raw), "done") {
		t.Errorf("raw = %s", got.out.Raw)
	}
}
