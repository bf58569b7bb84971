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

// becomesTask answers each call with a task, and how it is by the states, one after the other; the last one stays. heard, where it is set, gets what is asked and told about the task.
func becomesTask(heard chan<- string, states ...string) func(http.ResponseWriter, *http.Request, message) bool {
	var asked atomic.Int64
	hear := func(what, params string) string {
		if heard != nil {
			heard <- what + params
		}
		return `{"resultType":"complete"}`
	}
	return speaksModern(map[string]func(string) string{
		"tools/call": func(string) string {
			return `{"resultType":"task","taskId":"own-id","status":"working","pollIntervalMs":100}`
		},
		"tasks/get": func(string) string {
			hear("get", "")
			n := min(int(asked.Add(1)), len(states))
			return `{"resultType":"complete","taskId":"own-id","pollIntervalMs":100,` + states[n-1] + `}`
		},
		"tasks/update": func(params string) string { return hear("update", params) },
		"tasks/cancel": func(params string) string { return hear("cancel", params) },
	})
}

const finished = `"status":"completed","result":{"content":[{"type":"text","text":"done"}],"x":12345678901234567890}`

func TestATaskIsACallToAClientThatTakesNone(t *testing.T) {
	t.Parallel()
	b := newBench(t, modern)
	c := b.connector(t, b.remote)
	b.remote.set(becomesTask(nil, `"status":"working","statusMessage":"half"`, `"status":"working","statusMessage":"half"`, finished))
	order := b.order(t, b.process, b.trusted(t, c), c, "search", "")
	var told []string
	order.Progress = func(params json.RawMessage) { told = append(told, string(params)) }
	out, err := b.Call(t.Context(), order)
	must(t, err)
	if want := `{"content":[{"type":"text","text":"done"}],"x":12345678901234567890}`; out.Task || string(out.Raw) != want {
		t.Errorf("raw = %s", out.Raw)
	}
	if strings.Join(told, " ") != `{"progress":0} {"progress":1,"message":"half"}` {
		t.Errorf("progress = %s", told)
	}
	if row := b.row(t, out.CallID); row.Status != connectors.CallSuccess || string(row.Content) != `[{"type":"text","text":"done"}]` || row.Task != nil {
		t.Errorf("row = %+v", row)
	}
	b.remote.wantCalls(t, 1)
}

func TestTheEndOfATaskIsThatOfItsCall(t *testing.T) {
	t.Parallel()
	b := newBench(t, modern)
	c := b.connector(t, b.remote)
	order := b.order(t, b.process, b.trusted(t, c), c, "search", "")
	ends := func(state string) (toolcall.Outcome, error) {
		b.remote.set(becomesTask(nil, state))
		return b.Call(t.Context(), order)
	}
	out, err := ends(`"status":"completed","result":{"content":[],"isError":true}`)
	must(t, err)
	if row := b.row(t, out.CallID); !out.IsError || row.Outcome != connectors.OutcomeToolError {
		t.Errorf("%+v", row)
	}
	_, err = ends(`"status":"failed","error":{"code":-32603,"message":"remote words"}`)
	if failure, ok := err.(*mcp.Error); !ok || failure.RPC == nil || failure.RPC.Code != -32603 {
		t.Errorf("failed: %v", err)
	}
	for _, state := range []string{
		`"status":"completed","result":{"resultType":"task","taskId":"another","status":"working"}`,
		`"status":"completed","result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{}}}}`,
		`"status":"failed"`, `"status":"cancelled"`, `"status":"input_required","inputRequests":{"k":{"method":"roots/list"}}`,
	} {
		_, err = ends(state)
		wantRefused(t, err, toolcall.CodeUpstream)
	}
}

func TestATaskThatNobodyWaitsForIsCancelled(t *testing.T) {
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
			b := newBench(t, modern)
			c := b.connector(t, b.remote, func(d *connectors.Draft) { d.Timeout = tc.timeout })
			heard := make(chan string, 100)
			b.remote.set(becomesTask(heard, `"status":"working"`))
			order := b.order(t, b.process, b.trusted(t, c), c, "search", "")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			came := make(chan error, 1)
			go func() {
				_, err := b.Call(ctx, order)
				came <- err
			}()
			<-heard
			tc.end(b, cancel)
			wantRefused(t, <-came, tc.code)
			last := <-heard
			for strings.HasPrefix(last, "get") {
				last = <-heard
			}
			if !strings.HasPrefix(last, "cancel") || !strings.Contains(last, `"taskId":"own-id"`) {
				t.Errorf("heard %s", last)
			}
		})
	}
}

// stopNow stops the process and cuts off what is under way.
func (b *bench) stopNow() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	go b.Stop(ended)
}

func TestATaskAsksAClientThatIsAskedInBetween(t *testing.T) {
	t.Parallel()
	b := newBench(t, modern)
	c := b.connector(t, b.remote)
	heard := make(chan string, 10)
	b.remote.set(becomesTask(heard, `"status":"input_required","inputRequests":{"k":{"method":"roots/list","params":{}}}`, finished))
	order := b.order(t, b.process, b.trusted(t, c), c, "search", "")
	order.Capabilities = json.RawMessage(`{"roots":{}}`)
	order.Ask = func(_ context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(fmt.Sprintf(`{"asked":%q}`, method)), nil
	}
	out, err := b.Call(t.Context(), order)
	must(t, err)
	if out.Task || !strings.Contains(string(out.Raw), "done") {
		t.Errorf("raw = %s", out.Raw)
	}
	<-heard
	if params := <-heard; !strings.Contains(params, `"inputResponses":{"k":{"asked":"roots/list"}}`) {
		t.Errorf("tasks/update of %s", params)
	}
}

func TestAnApprovedCallWaitsForItsTask(t *testing.T) {
	t.Parallel()
	b := newBench(t, modern)
	c := b.connector(t, b.remote)
	a := b.granted(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
	b.remote.set(becomesTask(nil, finished))
	answers, id := b.waiting(t, a, c, b.process)
	b.approve(t, b.process, id)
	got := <-answers
	must(t, got.err)
	if got.out.Task || !strings.Contains(string(got.out.Raw), "done") {
		t.Errorf("raw = %s", got.out.Raw)
	}
}
