package toolcall_test

import (
	"context"
	"encoding/json"
	"errors"
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

// newApprovalBench is a bench with an agent that needs approval.
func newApprovalBench(t testing.TB) (*bench, connectors.Connector, connectors.Agent) {
	t.Helper()
	b := newBench(t)
	c := b.connector(t, b.remote)
	return b, c, b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
}

type callAnswer struct {
	out toolcall.Outcome
	err error
}

// startWaiting makes the call in each process, and returns when all wait.
func (b *bench) startWaiting(t testing.TB, a connectors.Agent, c connectors.Connector, processes ...*process) (answers chan callAnswer, id connectors.ToolCallID) {
	t.Helper()
	answers = make(chan callAnswer, len(processes))
	progress := make(chan struct{}, 100)
	for _, p := range processes {
		request := b.order(t, p, a, c, "search", `{"q":"x"}`)
		request.MultiRound, request.Progress = true, func(json.RawMessage) { progress <- struct{}{} }
		go func() {
			out, err := p.Call(context.WithoutCancel(t.Context()), request)
			answers <- callAnswer{out, err}
		}()
	}
	for range processes {
		select {
		case <-progress:
		case got := <-answers:
			t.Fatalf("the call does not wait: %+v", got)
		case <-time.After(patience):
			t.Fatal("no call waits")
		}
	}
	return answers, b.onlyWaiting(t)
}

// onlyWaiting is the single waiting call.
func (b *bench) onlyWaiting(t testing.TB) connectors.ToolCallID {
	t.Helper()
	list, err := b.ListPendingApprovals(t.Context(), b.actor(connectors.RoleViewer), store.Page{})
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

// callNoWait makes a call that does not wait for approval.
func (b *bench) callNoWait(t testing.TB, p *process, a connectors.Agent, c connectors.Connector) (toolcall.Outcome, error) {
	t.Helper()
	request := b.order(t, p, a, c, "search", `{ "q" : "x" }`)
	request.NoWait = true
	return p.Call(t.Context(), request)
}

func TestApproval_RunsForWaitingCaller(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	answers, id := b.startWaiting(t, a, c, b.process)
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
	got := receive(t, answers)
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
	_, err = b.callNoWait(t, b.process, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending) // a new call
	b.remote.wantCalls(t, 1)
}

func TestApproval_OneOfTwoProcessesRunsCall(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	other, third := b.newProcess(t, b.newInstance(t)), b.newProcess(t, b.newInstance(t))
	answers, id := b.startWaiting(t, a, c, b.process, other, b.process, other)
	var decisions sync.WaitGroup
	conflicts := make(chan error, 6)
	for _, p := range []*process{b.process, other, third, b.process, other, third} {
		decisions.Go(func() {
			_, err := p.Decide(context.WithoutCancel(t.Context()), b.actor(connectors.RoleMember), id, toolcall.Decision{Approve: true})
			conflicts <- err
		})
	}
	decisions.Wait()
	accepted := 0
	for range cap(conflicts) {
		if err := receive(t, conflicts); err == nil {
			accepted++
		} else if !fault.Is(err, fault.Conflict) {
			t.Error(err)
		}
	}
	if accepted != 1 {
		t.Errorf("%d decisions", accepted)
	}
	for range cap(answers) {
		got := receive(t, answers)
		must(t, got.err)
		if !strings.Contains(string(got.out.Raw), "search") {
			t.Errorf("outcome = %+v", got.out)
		}
	}
	b.remote.wantCalls(t, 1)
}

func TestApproval_DeniedCallIsNotMade(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	other := b.newProcess(t, b.newInstance(t))
	answers, id := b.startWaiting(t, a, c, b.process)
	if _, err := other.Decide(t.Context(), b.actor(connectors.RoleViewer), id, toolcall.Decision{}); !fault.Is(err, fault.Denied) {
		t.Errorf("a viewer decides: %v", err)
	}
	call, err := other.Decide(t.Context(), b.actor(connectors.RoleMember), id, toolcall.Decision{Reason: "Not today."})
	must(t, err)
	if call.Status != connectors.CallDenied || call.Outcome != connectors.OutcomeDenied {
		t.Errorf("call = %+v", call)
	}
	if r := asRefusal(t, receive(t, answers).err, toolcall.CodeDenied); !strings.Contains(r.Sentence, "Not today.") {
		t.Errorf("it says %q", r.Sentence)
	}
	b.remote.wantCalls(t, 0)
}

func TestApproval_LateResultIsFetchedOnce(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	must(t, b.Door().SetCallSettings(t.Context(), connectors.HistoryNone, connectors.ReadersEveryone, time.Second))
	p, other := b.newProcess(t, b.newInstance(t)), b.newProcess(t, b.newInstance(t))
	answers, id := b.startWaiting(t, a, c, p)
	r := asRefusal(t, receive(t, answers).err, toolcall.CodeApprovalPending)
	if !strings.Contains(r.Sentence, "https://patchbay.example.com/approvals/"+id.String()) || r.CallID != id {
		t.Errorf("refusal = %+v", r)
	}
	p.stop()
	if _, err := b.callNoWait(t, other, a, c); asRefusal(t, err, toolcall.CodeApprovalPending).CallID != id {
		t.Error("the same call did not find the one that waits")
	}
	if call := b.approve(t, other, id); call.Status == connectors.CallPendingApproval {
		t.Errorf("call = %+v", call)
	}
	receive(t, b.remote.arrived)
	out := b.fetchResult(t, a, c)
	if out.CallID != id || !strings.Contains(string(out.Raw), "search") {
		t.Errorf("outcome = %+v", out)
	}
	_, err := b.callNoWait(t, other, a, c)
	if again := asRefusal(t, err, toolcall.CodeApprovalPending); again.CallID == id {
		t.Error("the result was handed out twice")
	}
	b.remote.wantCalls(t, 1)
}

// fetchResult makes the same call for its result.
func (b *bench) fetchResult(t testing.TB, a connectors.Agent, c connectors.Connector) toolcall.Outcome {
	t.Helper()
	request := b.order(t, b.process, a, c, "search", `{"q":"x"}`)
	out, err := b.Call(t.Context(), request)
	must(t, err)
	return out
}

func TestApproval_WaiterSeesUnknownOutcome(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	answers, id := b.startWaiting(t, a, c, b.process)
	b.dieExecuting(t, id)
	b.Sweep(t.Context())
	wantRefused(t, receive(t, answers).err, toolcall.CodeOutcomeUnknown)
	b.remote.wantCalls(t, 0)
}

// dieExecuting approves a call, and claims it for a process that is dead.
func (b *bench) dieExecuting(t testing.TB, id connectors.ToolCallID) {
	t.Helper()
	instance := fixture.NewInstance()
	must(t, b.Door().Tx(t.Context(), func(tx *store.Tenant) error { // one transaction, so that no live process claims it
		if _, err := tx.Calls().DecideApproval(t.Context(), id, store.ApprovalDecision{Approve: true, By: "Dana"}); err != nil {
			return err
		}
		if _, err := tx.Calls().ClaimApproval(t.Context(), id, instance); err != nil {
			return err
		}
		return tx.Calls().StartPendingCall(t.Context(), id, instance, "Dana")
	}))
}

func TestApproval_DeadProcessCallIsNotRepeated(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	_, err := b.callNoWait(t, b.process, a, c)
	id := asRefusal(t, err, toolcall.CodeApprovalPending).CallID
	b.dieExecuting(t, id)
	_, err = b.callNoWait(t, b.process, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending) // its process may be alive
	b.Sweep(t.Context())
	if row := b.row(t, id); row.Outcome != connectors.OutcomeLost || row.Status != connectors.CallError {
		t.Errorf("row = %+v", row)
	}
	if row, err := b.Door().Calls().Approval(t.Context(), id); err != nil || row.State != connectors.ApprovalUnknown {
		t.Errorf("approval = %+v, %v", row, err)
	}
	b.remote.wantCalls(t, 0)
}

func TestSweep_RunsUnclaimedApproval(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	_, err := b.callNoWait(t, b.process, a, c)
	id := asRefusal(t, err, toolcall.CodeApprovalPending).CallID
	_, err = b.Door().Calls().DecideApproval(t.Context(), id, store.ApprovalDecision{Approve: true, By: "Dana"})
	must(t, err)
	_, err = b.Pool.Exec(t.Context(), "begin; select set_config('app.system', 'on', true); update approvals set decided_at = now() - interval '1 minute'; commit")
	must(t, err)
	b.Sweep(t.Context())
	receive(t, b.remote.arrived)
	if out := b.fetchResult(t, a, c); out.CallID != id {
		t.Errorf("outcome = %+v", out)
	}
	b.remote.wantCalls(t, 1)
}

func TestApproval_ChangedToolIsNotCalled(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	answers, id := b.startWaiting(t, a, c, b.process)
	b.changeTool(t, c)
	b.approve(t, b.process, id)
	wantRefused(t, receive(t, answers).err, toolcall.CodeHeld)
	b.remote.wantCalls(t, 0)
}

func TestAllowance_SkipsApprovalUntilExpiry(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	answers, id := b.startWaiting(t, a, c, b.process)
	_, err := b.Decide(t.Context(), b.actor(connectors.RoleMember), id, toolcall.Decision{Approve: true, AllowFor: 2 * time.Hour})
	must(t, err)
	must(t, receive(t, answers).err)
	p := b.newProcess(t, b.newInstance(t))
	_, err = b.callNoWait(t, p, a, c)
	must(t, err)
	b.remote.wantCalls(t, 2)
	b.clock.advance(2 * time.Hour)
	_, err = b.callNoWait(t, p, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending)
}

func TestAllowance_EndTakesEffectAtTheNextCall(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *bench, c connectors.Connector, a connectors.Agent) error{
		"it is ended": func(b *bench, c connectors.Connector, a connectors.Agent) error {
			_, err := b.Door().Calls().EndAllowance(context.Background(), a.ID, connectors.AllowanceKey{ConnectorID: c.ID, Kind: connectors.CallTool, Tool: "search"})
			return err
		},
		"its grant is removed and made anew": func(b *bench, c connectors.Connector, a connectors.Agent) error {
			g, err := b.Door().Agents().Grant(context.Background(), a.ID, c.ID)
			return errors.Join(err, b.Door().Agents().DropGrant(context.Background(), a.ID, c.ID), b.Door().Agents().SetGrant(context.Background(), g.Grant))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, c, a := newApprovalBench(t)
			answers, id := b.startWaiting(t, a, c, b.process)
			_, err := b.Decide(t.Context(), b.actor(connectors.RoleMember), id, toolcall.Decision{Approve: true, AllowFor: 2 * time.Hour})
			must(t, err)
			must(t, receive(t, answers).err)
			p := b.newProcess(t, b.newInstance(t))
			_, err = b.callNoWait(t, p, a, c)
			must(t, err)
			must(t, end(b, c, a))
			_, err = b.callNoWait(t, p, a, c)
			wantRefused(t, err, toolcall.CodeApprovalPending)
			b.remote.wantCalls(t, 2)
		})
	}
}

func TestDecide_AllowanceNeedsTheGrant(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	_, err := b.callNoWait(t, b.process, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending)
	id := b.onlyWaiting(t)
	b.Grant(t, a.ID, c.ID, fixture.Named("create"))
	_, err = b.Decide(t.Context(), b.actor(connectors.RoleMember), id, toolcall.Decision{Approve: true, AllowFor: time.Hour})
	if !fault.Is(err, fault.Conflict) || b.onlyWaiting(t) != id {
		t.Errorf("a tool that is not granted is allowed: %v", err)
	}
}

// changeTool accepts another definition of the tool.
func (b *bench) changeTool(t *testing.T, c connectors.Connector) {
	t.Helper()
	run := b.Run(t, c.ID)
	changed := fixture.DefinitionOf("search", `{"name":"search","description":"Another.","inputSchema":{"type":"object"}}`)
	res := fixture.FirstResult(changed)
	res.Diff.Changed, res.Diff.Added = res.Diff.Added, nil
	_, err := b.Door().Syncs().Finish(t.Context(), run.ID, res)
	must(t, err)
}

func TestAllowance_EndsWhenDefinitionChanges(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	answers, id := b.startWaiting(t, a, c, b.process)
	_, err := b.Decide(t.Context(), b.actor(connectors.RoleMember), id, toolcall.Decision{Approve: true, AllowFor: 2 * time.Hour})
	must(t, err)
	must(t, receive(t, answers).err)
	b.changeTool(t, c)
	_, err = b.callNoWait(t, b.newProcess(t, b.newInstance(t)), a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending)
	b.remote.wantCalls(t, 1)
}

func TestApproval_CancelledCallLeavesInbox(t *testing.T) {
	t.Parallel()
	for name, cancels := range map[string]func(b *bench, id connectors.ToolCallID, cancel context.CancelFunc) error{
		"the client": func(_ *bench, _ connectors.ToolCallID, cancel context.CancelFunc) error { cancel(); return nil },
		"a person": func(b *bench, id connectors.ToolCallID, _ context.CancelFunc) error {
			_, err := b.Cancel(context.Background(), b.actor(connectors.RoleMember), id)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, c, a := newApprovalBench(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			request := b.order(t, b.process, a, c, "search", "")
			progress, results := make(chan struct{}, 10), make(chan error, 1)
			request.Progress = func(json.RawMessage) { progress <- struct{}{} }
			go func() {
				_, err := b.Call(ctx, request)
				results <- err
			}()
			receive(t, progress)
			id := b.onlyWaiting(t)
			must(t, cancels(b, id, cancel))
			wantRefused(t, receive(t, results), toolcall.CodeCancelled)
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

func TestApproval_UncallableToolCreatesNoRow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote, perAgent)
	a := b.newGrantedAgent(t, c)
	_, err := b.call(t, a, c, "")
	wantRefused(t, err, toolcall.CodeCredentialRequired)
	if list, err := b.ListPendingApprovals(t.Context(), b.actor(connectors.RoleMember), store.Page{}); err != nil || len(list.Items) > 0 {
		t.Errorf("inbox = %+v, %v", list, err)
	}
}

func TestApproval_TaskClientPollsTask(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	request := b.order(t, b.process, a, c, "search", "")
	request.Task = true
	out, err := b.Call(t.Context(), request)
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
	poll := func() {
		t.Helper()
		raw, err := b.TaskRequest(t.Context(), request.View, toolcall.Client{MultiRound: true}, "tasks/get", params)
		must(t, err)
		must(t, json.Unmarshal(raw, &task))
	}
	if poll(); task.Status != "working" {
		t.Errorf("task = %+v", task)
	}
	duplicateIDs := json.RawMessage(fmt.Sprintf(`{"taskId":"another","taskId":%q}`, task.TaskID))
	if _, err := b.TaskRequest(t.Context(), request.View, toolcall.Client{MultiRound: true}, "tasks/get", duplicateIDs); err == nil {
		t.Error("a task of two ids is read")
	}
	otherAgent := b.newGrantedAgent(t, c)
	otherOrder := b.order(t, b.process, otherAgent, c, "search", "")
	if _, err := b.TaskRequest(t.Context(), otherOrder.View, toolcall.Client{MultiRound: true}, "tasks/get", params); err == nil {
		t.Error("another agent reads the task")
	}
	b.approve(t, b.process, out.CallID)
	receive(t, b.remote.arrived)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); task.Status != "completed" && time.Now().Before(end); poll() {
		<-tick.C
	}
	if task.Status != "completed" || !strings.Contains(string(task.Result), "search") {
		t.Errorf("task = %+v", task)
	}
	b.remote.wantCalls(t, 1)
}

func TestStop_CutsOffApprovedCall(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	p := b.newProcess(t, b.newInstance(t))
	b.remote.set(func(_ http.ResponseWriter, r *http.Request, m message) bool { return hangRequest(nil, r, m) })
	_, err := b.callNoWait(t, p, a, c)
	id := asRefusal(t, err, toolcall.CodeApprovalPending).CallID
	b.approve(t, p, id)
	receive(t, b.remote.arrived)
	doneCtx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Stop(doneCtx)
	p.history.Stop(t.Context())
	if row := b.row(t, id); row.Outcome != connectors.OutcomeLost {
		t.Errorf("row = %+v", row)
	}
	b.remote.wantCalls(t, 1)
}
