package toolcall

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/history"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/tracing"
)

// A call that a person has to agree to is a row, which outlives this process:
//
//	waiting ──► approved ──► executing ──► done ──► its result is fetched
//	   │ └────► denied           └───────► unknown: the process died, and nobody makes the call again
//	   └──────► lapsed: nobody decided for a day, or the call was cancelled
//
// Whoever waits for it, in whatever process, hears of each change. One process claims an approved call and makes it, once: the one with
// somebody who waits, if there is one. The same call, made again, finds the row as long as it is open or its result was not fetched; and for
// a few minutes, a denial.

const (
	approvalLife  = 24 * time.Hour
	mostAsked     = 100              // calls of one agent that are open at once: nobody reads more
	mostShown     = 1 << 20          // bytes of arguments that a person is asked about
	tellEvery     = 10 * time.Second // progress
	lookEvery     = 5 * time.Second  // where no notice comes
	claimPatience = 500 * time.Millisecond
	denialLife    = 5 * time.Minute // who said no is not asked the same again for so long
)

// asks tells whether the call waits for a person. One that goes on was agreed to when it began.
func (a *attempt) asks() bool {
	if a.went != nil && a.went.Approved != "" {
		a.call.ApprovedBy = a.went.Approved
		order := *a.order
		order.Meta = pinned(order.Client)
		a.order = &order
		return false
	}
	return a.order.Tool.AsksAt(a.o.Now())
}

// askFirst asks a person, and makes the call when that one agrees. A call that could not be made asks nobody, and neither does one of which
// the person could read something else than the server.
func (a *attempt) askFirst(ctx context.Context) (Outcome, error) {
	if err := a.legible(); err != nil {
		return a.refuse(err)
	}
	if err := a.deniedAlready(ctx); err != nil {
		return a.refuse(err)
	}
	if err := a.ready(ctx); err != nil {
		return a.refuse(err)
	}
	ctx, span := tracing.Child(ctx, "approval")
	defer span.End()
	row, err := a.ask(ctx)
	if err != nil {
		return a.refuse(a.explain(ctx, a.order.View, a.reach, err))
	}
	a.call.ID, a.call.Status = row.ID, connectors.CallPendingApproval
	if a.order.Task && !a.order.Impatient {
		raw, err := a.waitingTask(row)
		return Outcome{CallID: row.ID, Raw: raw, Task: err == nil, Call: a.call}, err
	}
	return a.await(ctx, row.ID)
}

// legible tells why a person could not judge the arguments.
func (a *attempt) legible() error {
	switch arguments := a.arguments(); {
	case len(arguments) > mostShown:
		return &BadArguments{Sentence: "A person is asked about this call, and its arguments are more than anybody reads: 1 MiB is the most."}
	case ambiguous(arguments):
		return &BadArguments{Sentence: "A person is asked about this call, and its arguments can be read in two ways: an object names a member twice, or a text is not Unicode."}
	}
	return nil
}

// deniedAlready is the denial of the same call, where a person has just said no to it.
func (a *attempt) deniedAlready(ctx context.Context) error {
	view := a.order.View
	var row connectors.Approval
	err := a.o.Store.Retry(ctx, a.order.Wait, func(ctx context.Context) (err error) {
		row, err = a.o.Store.Tenant(view.Tenant.ID).DeniedCall(ctx, view.Agent.ID, a.hash(), a.o.Now().Add(-denialLife))
		return err
	})
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return a.explain(ctx, view, a.reach, err)
	}
	return denied(row)
}

// ready tells why the call could not be made now, also if somebody agreed.
func (a *attempt) ready(ctx context.Context) error {
	view := a.order.View
	if wait := a.breakers.refuses(server{view.Tenant.ID, a.reach.Connector.ID}, view.Agent.ID, a.o.Now()); wait > 0 {
		return circuitOpen(a.reach.Connector.Name, wait)
	}
	if _, err := a.pool.Resolve(ctx, a.want()); err != nil {
		return a.explain(ctx, view, a.reach, err)
	}
	return nil
}

// ask makes the row, or finds that of the same call. Where it is not known whether the row was made, because the database went away, that is
// looked up when it is back: the row has the call's id.
func (a *attempt) ask(ctx context.Context) (row connectors.Approval, err error) {
	var created, counts bool
	defer func() {
		if !counts { // also where what follows panics
			a.giveBack()
		}
	}()
	err = a.o.Store.Retry(ctx, a.order.Wait, func(ctx context.Context) error {
		row, created, err = a.askNow(ctx)
		return err
	})
	counts = err == nil && (created || row.ID == a.call.ID)
	return row, err
}

func (a *attempt) askNow(ctx context.Context) (row connectors.Approval, created bool, err error) {
	view, tool := a.order.View, a.order.Tool
	err = a.o.Store.Tenant(view.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		row, created, err = tx.AskApproval(ctx, store.NewApproval{
			ID: a.call.ID, AgentID: view.Agent.ID, ConnectorID: a.reach.Connector.ID, Tool: tool.Name, ExposedName: tool.Exposed,
			Definition: tool.Hash, CallHash: a.hash(), Call: secret.Text(a.arguments()), ExpiresAt: a.o.Now().Add(approvalLife),
		})
		if err != nil || !created {
			return err
		}
		open, err := tx.CountOpenApprovals(ctx, view.Agent.ID)
		if err != nil {
			return err
		}
		if open > mostAsked {
			return tooManyAsked()
		}
		pending := a.call
		history.Keep(&pending, view.Tenant.CallHistory)
		if err := tx.InsertPendingCall(ctx, pending); err != nil {
			return err
		}
		return a.countOnce()
	})
	return row, created, err
}

func tooManyAsked() *Refusal {
	return &Refusal{Code: CodeRateLimited, RetryAfter: time.Minute, Sentence: fmt.Sprintf(
		"%d calls of this agent wait for a person already. Wait until some are decided.", mostAsked)}
}

// await waits until the call was made or refused, as long as the tenant wants.
func (a *attempt) await(ctx context.Context, id connectors.ToolCallID) (Outcome, error) {
	woken, leave := a.waits.join(id)
	defer leave()
	patience := time.NewTimer(a.order.View.Tenant.ApprovalTimeout)
	defer patience.Stop()
	look, tell := time.NewTicker(lookEvery), time.NewTicker(tellEvery)
	defer look.Stop()
	defer tell.Stop()
	a.tellWaiting(0)
	for told := 1; ; {
		out, over, err := a.look(ctx, id)
		if over || a.order.Impatient || a.isStopped() {
			if over {
				return out, err
			}
			return a.pending(ctx, id)
		}
		select {
		case <-woken:
		case <-look.C:
		case <-tell.C:
			a.tellWaiting(told)
			told++
		case <-patience.C:
			return a.pending(ctx, id)
		case <-ctx.Done():
			return a.withdraw(ctx, id)
		}
	}
}

func (a *attempt) tellWaiting(n int) {
	if a.order.Progress != nil {
		a.order.Progress(json.RawMessage(fmt.Sprintf(`{"progress":%d,"message":"Waiting for approval"}`, n)))
	}
}

// look does what is to be done about the row as it is now. over: the call was made or refused.
func (a *attempt) look(ctx context.Context, id connectors.ToolCallID) (out Outcome, over bool, _ error) {
	row, err := a.o.Store.Tenant(a.order.View.Tenant.ID).Approval(ctx, id)
	if err != nil {
		return Outcome{Call: a.call}, fault.Is(err, fault.NotFound), a.gone(err) // the database may be away for a moment
	}
	switch row.State {
	case connectors.ApprovalApproved:
		return a.takeUp(ctx, row)
	case connectors.ApprovalDone:
		out, err = a.fetch(ctx, id)
		return out, !fault.Is(err, fault.Unavailable), err
	case connectors.ApprovalDenied:
		return a.recorded(ctx, id), true, a.refusal(id, denied(row))
	case connectors.ApprovalLapsed:
		return a.recorded(ctx, id), true, a.refusal(id, lapsed())
	case connectors.ApprovalUnknown:
		return a.recorded(ctx, id), true, a.refusal(id, unknownOutcome())
	default:
		return out, false, nil
	}
}

// gone explains that the row is not there any more: the agent or the connector was deleted.
func (a *attempt) gone(err error) error {
	return a.refusal(a.call.ID, &Refusal{Code: CodeNotGranted, Sentence: "The agent or the connector of this call is not there any more.", Err: err})
}

func lapsed() *Refusal {
	return &Refusal{Code: CodeCancelled, Sentence: "This call does not wait for approval any more. Make it again if it is still needed."}
}

func denied(row connectors.Approval) *Refusal {
	sentence := "A person denied this call."
	if row.Reason != "" {
		sentence = "A person denied this call: " + row.Reason
	}
	return &Refusal{Code: CodeDenied, Sentence: sentence}
}

func unknownOutcome() *Refusal {
	return &Refusal{Code: CodeOutcomeUnknown, Sentence: "This call was approved, and Patchbay stopped while it was made. Whether the tool ran is not known, and it is not run again. Look at what it was to change before you call it again."}
}

func (a *attempt) refusal(id connectors.ToolCallID, r *Refusal) error {
	r.CallID = id
	return r
}

// recorded is the call as the history has it.
func (a *attempt) recorded(ctx context.Context, id connectors.ToolCallID) Outcome {
	call, err := a.o.Store.Tenant(a.order.View.Tenant.ID).ToolCall(ctx, id)
	if err != nil {
		call = a.call
	}
	return Outcome{CallID: id, Call: call}
}

// pending tells the agent to come back.
func (a *attempt) pending(ctx context.Context, id connectors.ToolCallID) (Outcome, error) {
	return a.recorded(ctx, id), a.refusal(id, &Refusal{Code: CodeApprovalPending, RetryAfter: time.Minute, Sentence: fmt.Sprintf(
		"This call waits for a person's approval: %s Make the same call again when it was approved.", a.o.BaseURL+"/approvals/"+id.String())})
}

// withdraw ends the waiting of a call that its client cancelled, unless somebody has decided meanwhile.
func (a *attempt) withdraw(ctx context.Context, id connectors.ToolCallID) (Outcome, error) {
	why := ended(ctx, a.reach.Connector)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	if why.Code == CodeCancelled {
		_, err := a.Caller.withdraw(ctx, a.order.View.Tenant.ID, id, why.Sentence)
		a.logUnsaved(ctx, err)
	}
	return a.recorded(ctx, id), a.refusal(id, why)
}

// withdraw ends the waiting of a call, and tells whether it waited.
func (c *Caller) withdraw(ctx context.Context, t connectors.TenantID, id connectors.ToolCallID, because string, events ...store.Event) (waited bool, err error) {
	err = c.o.Store.Tenant(t).Tx(ctx, func(tx *store.Tenant) error {
		if waited, err = tx.WithdrawApproval(ctx, id); err != nil || !waited {
			return err
		}
		_, err = tx.EndPendingCall(ctx, id, store.CallEnd{
			Status: connectors.CallCancelled, Outcome: connectors.OutcomeCancelled, Code: string(CodeCancelled), Message: because,
		})
		for _, e := range events {
			if err == nil {
				err = tx.Record(ctx, e)
			}
		}
		return err
	})
	if waited && err == nil {
		c.tellEnded(ctx, t, id)
	}
	return waited, err
}
