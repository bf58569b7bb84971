package toolcall_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// endSoon sets an end that comes within the test, in the database's time.
func (b *bench) endSoon(t testing.TB, agent connectors.AgentID, c connectors.ConnectorID, in time.Duration) time.Time {
	t.Helper()
	var now time.Time
	must(t, b.Pool.QueryRow(t.Context(), "select clock_timestamp()").Scan(&now))
	end := now.Add(in).Truncate(time.Second)
	must(t, b.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: agent, ConnectorID: c, AllTools: true, Ends: &connectors.GrantEnds{Until: &end}}))
	return end
}

// passEnd waits for the end by the database's time.
func (b *bench) passEnd(t testing.TB, end time.Time) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(patience); time.Now().Before(until); {
		var now time.Time
		must(t, b.Pool.QueryRow(t.Context(), "select clock_timestamp()").Scan(&now))
		if !now.Before(end) {
			return
		}
		<-tick.C
	}
	t.Fatalf("the end at %s did not come", end)
}

func TestEnd_RefusesInEveryReplica(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	other := b.newProcess(t, b.newInstance(t))
	end := b.endSoon(t, a.ID, c.ID, 4*time.Second)
	held := map[*process]toolcall.CallRequest{}
	for _, p := range []*process{b.process, other} {
		held[p] = b.order(t, p, a, c, "search", `{"q":"x"}`)
		if _, err := p.Call(t.Context(), held[p]); err != nil {
			t.Fatal(err)
		}
	}
	b.passEnd(t, end)
	for p, request := range held {
		_, err := p.Call(t.Context(), request) // with the view from before the end
		if r := asRefusal(t, err, toolcall.CodeNotGranted); !strings.Contains(r.Sentence, "ended at "+end.Format("2006-01-02 15:04:05")) {
			t.Errorf("refused with %q", r.Sentence)
		}
		_, err = p.Call(t.Context(), b.order(t, p, a, c, "search", `{"q":"x"}`))
		wantRefused(t, err, toolcall.CodeNotGranted)
	}
	b.remote.wantCalls(t, 2)
}

// A call that was sent before the end gets its answer.
func TestEnd_LeavesCallsInFlight(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	end := b.endSoon(t, a.ID, c.ID, 3*time.Second)
	arrived, release := make(chan struct{}), make(chan struct{})
	b.remote.set(func(w http.ResponseWriter, r *http.Request, m message) bool {
		if m.Method != "tools/call" {
			return false
		}
		close(arrived)
		<-release
		reply(w, m, `{"content":[{"type":"text","text":"done"}]}`)
		return true
	})
	request, answers := b.order(t, b.process, a, c, "search", `{"q":"x"}`), make(chan callAnswer, 1)
	go func() {
		out, err := b.Call(t.Context(), request)
		answers <- callAnswer{out, err}
	}()
	receive(t, arrived)
	b.passEnd(t, end)
	close(release)
	if got := receive(t, answers); got.err != nil {
		t.Error(got.err)
	}
}

// A call that a person approves after the end is not made.
func TestEnd_RefusesCallsApprovedLater(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	end := b.endSoon(t, a.ID, c.ID, 4*time.Second)
	answers, id := b.startWaiting(t, a, c, b.process)
	b.passEnd(t, end)
	_, err := b.Decide(t.Context(), b.actor(connectors.RoleMember), id, toolcall.Decision{Approve: true})
	must(t, err)
	wantRefused(t, receive(t, answers).err, toolcall.CodeNotGranted)
	b.remote.wantCalls(t, 0)
}

// An allowance of an ended grant does not return with the grant.
func TestEnd_EndsAllowances(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	b.AllowanceIn(t, b.Tenant, a.ID, c.ID, "search")
	end := b.endSoon(t, a.ID, c.ID, 2*time.Second)
	b.passEnd(t, end)
	b.endSoon(t, a.ID, c.ID, time.Hour)
	all, err := b.Door().Calls().Allowances(t.Context(), a.ID, store.Page{})
	must(t, err)
	if len(all.Items) != 0 {
		t.Errorf("%d allowances returned with the grant", len(all.Items))
	}
}

// After the end a task gets no new input, and its client still reads its state.
func TestEnd_TasksGetNoMoreInput(t *testing.T) {
	t.Parallel()
	t.Run("2026-07-28", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, withModernDialer)
		c := b.connector(t, b.remote)
		a, updates := b.newTrustedAgent(t, c), atomic.Int64{}
		b.remote.set(answerModern(map[string]func(string) string{
			"tools/call": func(string) string { return `{"resultType":"task","taskId":"own-id","status":"working"}` },
			"tasks/get":  func(string) string { return `{"resultType":"complete","taskId":"own-id","status":"working"}` },
			"tasks/update": func(string) string {
				updates.Add(1)
				return `{"resultType":"complete"}`
			},
		}))
		end := b.endSoon(t, a.ID, c.ID, 3*time.Second)
		request := b.order(t, b.process, a, c, "search", "")
		request.Task = true
		out, err := b.Call(t.Context(), request)
		must(t, err)
		b.wantNoInput(t, request, taskParams(t, out.Raw), end)
		if n := updates.Load(); n != 0 {
			t.Errorf("%d updates reached the server", n)
		}
	})
	t.Run("2025-11-25", func(t *testing.T) {
		t.Parallel()
		b := newTaskBench(t, "")
		a := b.newTrustedAgent(t, b.c)
		end := b.endSoon(t, a.ID, b.c.ID, 4*time.Second)
		request := b.order(t, b.process, a, b.c, "research", "")
		request.Task, request.MultiRound, request.Capabilities = true, true, json.RawMessage(`{"elicitation":{}}`)
		out, err := b.Call(t.Context(), request)
		must(t, err)
		receive(t, b.server.Began)
		b.wantNoInput(t, request, taskParams(t, out.Raw), end)
	})
}

// wantNoInput waits for the end, sends input for a task, and reads the task.
func (b *bench) wantNoInput(t *testing.T, request toolcall.CallRequest, params json.RawMessage, end time.Time) {
	t.Helper()
	b.passEnd(t, end)
	input := json.RawMessage(strings.TrimSuffix(string(params), "}") + `,"inputResponses":{"k":{"action":"accept"}}}`)
	_, err := b.TaskRequest(t.Context(), request.View, request.Client, "tasks/update", input)
	if r := asRefusal(t, err, toolcall.CodeNotGranted); !strings.Contains(r.Sentence, "ended at") {
		t.Errorf("refused with %q", r.Sentence)
	}
	_, err = b.TaskRequest(t.Context(), request.View, request.Client, "tasks/get", params)
	must(t, err)
}
