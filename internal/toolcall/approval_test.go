package toolcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolcall"
)

// asking is a bench with a connector and an agent whose calls wait for a person.
func asking(t testing.TB) (*bench, connectors.Connector, connectors.Agent) {
	t.Helper()
	b := newBench(t)
	c := b.connector(t, b.remote)
	return b, c, b.granted(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
}

type answer struct {
	out toolcall.Outcome
	err error
}

// waiting begins calls, each at its process, and returns when one waits.
func (b *bench) waiting(t testing.TB, a connectors.Agent, c connectors.Connector, at ...*process) (answers chan answer, id connectors.ToolCallID) {
	t.Helper()
	answers = make(chan answer, len(at))
	waits := make(chan struct{}, 100)
	for _, p := range at {
		order := b.order(t, p, a, c, "search", `{"q":"x"}`)
		order.MultiRound, order.Progress = true, func(json.RawMessage) { waits <- struct{}{} }
		go func() {
			out, err := p.Call(context.WithoutCancel(t.Context()), order)
			answers <- answer{out, err}
		}()
	}
	for range at {
		<-waits
	}
	return answers, b.theOne(t)
}

// theOne is the only call that waits.
func (b *bench) theOne(t testing.TB) connectors.ToolCallID {
	t.Helper()
	list, err := b.Inbox(t.Context(), b.actor(connectors.RoleViewer), store.Page{})
	must(t, err)
	if len(list.Items) != 1 {
		t.Fatalf("%d calls wait", len(list.Items))
	}
	return list.Items[0].ID
}

func (b *bench) approve(t testing.TB, p *process, id connectors.ToolCallID) connectors.ToolCall {
	t.Helper()
	call, err := p.Decide(t.Context(), b.actor(connectors.RoleMember), id, toolcall.Decision{Approve: true})
	must(t, err)
	return call
}

// impatient makes a call whose caller does not wait for a person.
func (b *bench) impatient(t testing.TB, p *process, a connectors.Agent, c connectors.Connector) (toolcall.Outcome, error) {
	t.Helper()
	order := b.order(t, p, a, c, "search", `{ "q" : "x" }`)
	order.Impatient = true
	return p.Call(t.Context(), order)
}

func TestAnApprovedCallIsMadeForWhoeverWaits(t *testing.T) {
	t.Parallel()
	b, c, a := asking(t)
	answers, id := b.waiting(t, a, c, b.process)
	b.remote.wantCalls(t, 0)
	if row := b.row(t, id); row.Status != connectors.CallPendingApproval {
		t.Errorf("row = %+v", row)
	}
	shown, err := b.Approval(t.Context(), b.actor(connectors.RoleMember), id)
	must(t, err)
	if string(shown.Arguments) != `{"q":"x"}` || shown.Tool != "search" {
		t.Errorf("shown = %+v", shown)
	}
	b.approve(t, b.process, id)
	got := <-answers
	must(t, got.err)
	if got.out.CallID != id || !strings.Contains(string(got.out.Raw), "search") {
		t.Errorf("outcome = %+v", got.out)
	}
	if row := b.row(t, id); row.Status != connectors.CallSuccess || row.ApprovedBy != "Dana" {
		t.Errorf("row = %+v", row)
	}
	if _, err := b.Decide(t.Context(), b.actor(connectors.RoleMember), id, toolcall.Decision{}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second decision: %v", err)
	}
	b.remote.wantCalls(t, 1)
	_, err = b.impatient(t, b.process, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending) // another call: it is asked for anew
	b.remote.wantCalls(t, 1)
}

func TestTwoProcessesWaitForOneCallAndOneMakesIt(t *testing.T) {
	t.Parallel()
	b, c, a := asking(t)
	other, third := b.newProcess(t, b.beating(t)), b.newProcess(t, b.beating(t))
	answers, id := b.waiting(t, a, c, b.process, other, b.process, other)
	var decided sync.WaitGroup
	conflicts := make(chan error, 6)
	for _, p := range []*process{b.process, other, third, b.process, other, third} {
		decided.Go(func() {
			_, err := p.Decide(context.WithoutCancel(t.Context()), b.actor(connectors.RoleMember), id, toolcall.Decision{Approve: true})
			conflicts <- err
		})
	}
	decided.Wait()
	agreed := 0
	for range cap(conflicts) {
		if err := <-conflicts; err == nil {
			agreed++
		} else if !fault.Is(err, fault.Conflict) {
			t.Error(err)
		}
	}
	if agreed != 1 {
		t.Errorf("%d decisions", agreed)
	}
	for range cap(answers) {
		got := <-answers
		must(t, got.err)
		if !strings.Contains(string(got.out.Raw), "search") {
			t.Errorf("outcome = %+v", got.out)
		}
	}
	b.remote.wantCalls(t, 1)
}

func TestADeniedCallIsNotMade(t *testing.T) {
	t.Parallel()
	b, c, a := asking(t)
	other := b.newProcess(t, b.beating(t))
	answers, id := b.waiting(t, a, c, b.process)
	if _, err := other.Decide(t.Context(), b.actor(connectors.RoleViewer), id, toolcall.Decision{}); !fault.Is(err, fault.Denied) {
		t.Errorf("a viewer decides: %v", err)
	}
	call, err := other.Decide(t.Context(), b.actor(connectors.RoleMember), id, toolcall.Decision{Reason: "Not today."})
	must(t, err)
	if call.Status != connectors.CallDenied || call.Outcome != connectors.OutcomeDenied {
		t.Errorf("call = %+v", call)
	}
	if r := refused(t, (<-answers).err, toolcall.CodeDenied); !strings.Contains(r.Sentence, "Not today.") {
		t.Errorf("it says %q", r.Sentence)
	}
	b.remote.wantCalls(t, 0)
}

func TestWhatIsApprovedTooLateIsMadeAndFetchedOnce(t *testing.T) {
	t.Parallel()
	b, c, a := asking(t)
	must(t, b.Door().Configure(t.Context(), connectors.HistoryNone, connectors.ReadersEveryone, time.Second))
	p, other := b.newProcess(t, b.beating(t)), b.newProcess(t, b.beating(t))
	answers, id := b.waiting(t, a, c, p)
	r := refused(t, (<-answers).err, toolcall.CodeApprovalPending)
	if !strings.Contains(r.Sentence, "https://patchbay.example.com/approvals/"+id.String()) || r.CallID != id {
		t.Errorf("refusal = %+v", r)
	}
	p.stop() // the process may end: the row stays
	if _, err := b.impatient(t, other, a, c); refused(t, err, toolcall.CodeApprovalPending).CallID != id {
		t.Error("the same call did not find the one that waits")
	}
	if call := b.approve(t, other, id); call.Status == connectors.CallPendingApproval {
		t.Errorf("call = %+v", call)
	}
	<-b.remote.arrived
	out := b.fetched(t, a, c)
	if out.CallID != id || !strings.Contains(string(out.Raw), "search") {
		t.Errorf("outcome = %+v", out)
	}
	_, err := b.impatient(t, other, a, c)
	if again := refused(t, err, toolcall.CodeApprovalPending); again.CallID == id {
		t.Error("the result was handed out twice")
	}
	b.remote.wantCalls(t, 1)
}

// fetched makes the same call until it has the result.
func (b *bench) fetched(t testing.TB, a connectors.Agent, c connectors.Connector) toolcall.Outcome {
	t.Helper()
	order := b.order(t, b.process, a, c, "search", `{"q":"x"}`)
	out, err := b.Call(t.Context(), order)
	must(t, err)
	return out
}

func TestWhoeverWaitsIsToldOfACallThatWasCutOff(t *testing.T) {
	t.Parallel()
	b, c, a := asking(t)
	answers, id := b.waiting(t, a, c, b.process)
	b.dies(t, id)
	b.Sweep(t.Context())
	wantRefused(t, (<-answers).err, toolcall.CodeOutcomeUnknown)
	b.remote.wantCalls(t, 0)
}

// dies has a call approved, and claimed by a process that dies before there is a result.
func (b *bench) dies(t testing.TB, id connectors.ToolCallID) {
	t.Helper()
	dead := fixture.NewInstance()
	must(t, b.Door().Tx(t.Context(), func(tx *store.Tenant) error { // in one, so that nobody takes it up in between
		if _, err := tx.DecideApproval(t.Context(), id, store.Verdict{Approve: true, By: "Dana"}); err != nil {
			return err
		}
		if _, err := tx.ClaimApproval(t.Context(), id, dead); err != nil {
			return err
		}
		return tx.StartPendingCall(t.Context(), id, dead, "Dana")
	}))
}

func TestNobodyMakesADeadProcesssCallAgain(t *testing.T) {
	t.Parallel()
	b, c, a := asking(t)
	_, err := b.impatient(t, b.process, a, c)
	id := refused(t, err, toolcall.CodeApprovalPending).CallID
	b.dies(t, id)
	_, err = b.impatient(t, b.process, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending) // it may live
	b.Sweep(t.Context())
	if row := b.row(t, id); row.Outcome != connectors.OutcomeLost || row.Status != connectors.CallError {
		t.Errorf("row = %+v", row)
	}
	if row, err := b.Door().Approval(t.Context(), id); err != nil || row.State != connectors.ApprovalUnknown {
		t.Errorf("approval = %+v, %v", row, err)
	}
	b.remote.wantCalls(t, 0)
}

func TestAnApprovedCallThatNobodyTookUpIsFound(t *testing.T) {
	t.Parallel()
	b, c, a := asking(t)
	_, err := b.impatient(t, b.process, a, c)
	id := refused(t, err, toolcall.CodeApprovalPending).CallID
	_, err = b.Door().DecideApproval(t.Context(), id, store.Verdict{Approve: true, By: "Dana"})
	must(t, err)
	_, err = b.Pool.Exec(t.Context(), "begin; select set_config('app.system', 'on', true); update approvals set decided_at = now() - interval '1 minute'; commit")
	must(t, err)
	b.Sweep(t.Context())
	<-b.remote.arrived
	if out := b.fetched(t, a, c); out.CallID != id {
		t.Errorf("outcome = %+v", out)
	}
	b.remote.wantCalls(t, 1)
}

func TestAToolThatChangedAfterTheQuestionIsNotCalled(t *testing.T) {
	t.Parallel()
	b, c, a := asking(t)
	answers, id := b.waiting(t, a, c, b.process)
	b.redefine(t, c)
	b.approve(t, b.process, id)
	wantRefused(t, (<-answers).err, toolcall.CodeHeld)
	b.remote.wantCalls(t, 0)
}

func TestAnAllowanceAsksNobodyForAWhile(t *testing.T) {
	t.Parallel()
	b, c, a := asking(t)
	answers, id := b.waiting(t, a, c, b.process)
	_, err := b.Decide(t.Context(), b.actor(connectors.RoleMember), id, toolcall.Decision{Approve: true, Allow: 2 * time.Hour})
	must(t, err)
	must(t, (<-answers).err)
	p := b.newProcess(t, b.beating(t))
	_, err = b.impatient(t, p, a, c)
	must(t, err)
	b.remote.wantCalls(t, 2)
	b.clock.pass(2 * time.Hour)
	_, err = b.impatient(t, p, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending)
}

// redefine has the tool be another one, which was accepted.
func (b *bench) redefine(t *testing.T, c connectors.Connector) {
	t.Helper()
	run := b.Run(t, c.ID)
	changed := fixture.DefinitionOf("search", `{"name":"search","description":"Another.","inputSchema":{"type":"object"}}`)
	res := fixture.FirstResult(changed)
	res.Diff.Changed, res.Diff.Added = res.Diff.Added, nil
	_, err := b.Door().FinishSync(t.Context(), run.ID, res)
	must(t, err)
}

func TestAnAllowanceIsForTheToolThatThePersonSaw(t *testing.T) {
	t.Parallel()
	b, c, a := asking(t)
	answers, id := b.waiting(t, a, c, b.process)
	_, err := b.Decide(t.Context(), b.actor(connectors.RoleMember), id, toolcall.Decision{Approve: true, Allow: 2 * time.Hour})
	must(t, err)
	must(t, (<-answers).err)
	b.redefine(t, c)
	_, err = b.impatient(t, b.newProcess(t, b.beating(t)), a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending)
	b.remote.wantCalls(t, 1)
}

func TestACallThatItsClientCancelledIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	for name, cancels := range map[string]func(b *bench, id connectors.ToolCallID, leave context.CancelFunc) error{
		"the client": func(_ *bench, _ connectors.ToolCallID, leave context.CancelFunc) error { leave(); return nil },
		"a person": func(b *bench, id connectors.ToolCallID, _ context.CancelFunc) error {
			_, err := b.Cancel(context.Background(), b.actor(connectors.RoleMember), id)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, c, a := asking(t)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			order := b.order(t, b.process, a, c, "search", "")
			waits, ends := make(chan struct{}, 10), make(chan error, 1)
			order.Progress = func(json.RawMessage) { waits <- struct{}{} }
			go func() {
				_, err := b.Call(ctx, order)
				ends <- err
			}()
			<-waits
			id := b.theOne(t)
			must(t, cancels(b, id, leave))
			wantRefused(t, <-ends, toolcall.CodeCancelled)
			if row := b.row(t, id); row.Status != connectors.CallCancelled {
				t.Errorf("row = %+v", row)
			}
			if _, err := b.Decide(t.Context(), b.actor(connectors.RoleMember), id, toolcall.Decision{Approve: true}); !fault.Is(err, fault.Conflict) {
				t.Errorf("decided: %v", err)
			}
			b.remote.wantCalls(t, 0)
		})
	}
}

func TestWhatCannotBeCalledAsksNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote, perAgent)
	a := b.granted(t, c)
	_, err := b.call(t, a, c, "")
	wantRefused(t, err, toolcall.CodeCredentialRequired)
	if list, err := b.Inbox(t.Context(), b.actor(connectors.RoleMember), store.Page{}); err != nil || len(list.Items) > 0 {
		t.Errorf("inbox = %+v, %v", list, err)
	}
}

func TestAClientThatTakesTasksGetsOneAndAsksForIt(t *testing.T) {
	t.Parallel()
	b, c, a := asking(t)
	order := b.order(t, b.process, a, c, "search", "")
	order.Task = true
	out, err := b.Call(t.Context(), order)
	must(t, err)
	var task struct {
		TaskID, Status, ResultType string
		Result                     json.RawMessage
	}
	must(t, json.Unmarshal(out.Raw, &task))
	if !out.Task || task.Status != "working" || task.ResultType != "task" || task.TaskID == "" {
		t.Fatalf("outcome = %s", out.Raw)
	}
	params := json.RawMessage(fmt.Sprintf(`{"taskId":%q}`, task.TaskID))
	get := func() {
		t.Helper()
		raw, err := b.TaskRequest(t.Context(), order.View, toolcall.Client{MultiRound: true}, "tasks/get", params)
		must(t, err)
		must(t, json.Unmarshal(raw, &task))
	}
	if get(); task.Status != "working" {
		t.Errorf("task = %+v", task)
	}
	twice := json.RawMessage(fmt.Sprintf(`{"taskId":"another","taskId":%q}`, task.TaskID))
	if _, err := b.TaskRequest(t.Context(), order.View, toolcall.Client{MultiRound: true}, "tasks/get", twice); err == nil {
		t.Error("a task of two ids is read")
	}
	stranger := b.granted(t, c)
	strangers := b.order(t, b.process, stranger, c, "search", "")
	if _, err := b.TaskRequest(t.Context(), strangers.View, toolcall.Client{MultiRound: true}, "tasks/get", params); err == nil {
		t.Error("another agent reads the task")
	}
	b.approve(t, b.process, out.CallID)
	<-b.remote.arrived
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); task.Status != "completed" && time.Now().Before(end); get() {
		<-tick.C
	}
	if task.Status != "completed" || !strings.Contains(string(task.Result), "search") {
		t.Errorf("task = %+v", task)
	}
	b.remote.wantCalls(t, 1)
}

func TestAnApprovedCallIsCutOffWithItsProcess(t *testing.T) {
	t.Parallel()
	b, c, a := asking(t)
	p := b.newProcess(t, b.beating(t))
	b.remote.set(func(_ http.ResponseWriter, r *http.Request, m message) bool { return hangs(nil, r, m) })
	_, err := b.impatient(t, p, a, c)
	id := refused(t, err, toolcall.CodeApprovalPending).CallID
	b.approve(t, p, id)
	<-b.remote.arrived
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	p.Stop(ended) // it waits no longer
	p.history.Stop(t.Context())
	if row := b.row(t, id); row.Outcome != connectors.OutcomeLost {
		t.Errorf("row = %+v", row)
	}
	b.remote.wantCalls(t, 1)
}
