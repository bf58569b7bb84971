package toolcall

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/tracing"
)

// A call that needs approval is a row, which outlives this process:
//
//	waiting ──► approved ──► executing ──► done ──► its result is fetched
//	   │ └────► denied           └───────► unknown: the process died; the call is not repeated
//	   └──────► lapsed: not decided within a day, or cancelled
//
// Every process is notified of changes. One process claims an approved call and runs it once, preferably one
// with a waiting request. The same call, made again, finds the row while it is open or its result is not
// fetched, and a denial for a few minutes.

const (
	approvalTTL          = 24 * time.Hour
	maxOpenApprovals     = 100     // per agent
	maxReviewBytes       = 1 << 20 // of arguments shown to the approver
	waitProgressInterval = 10 * time.Second
	waitPollInterval     = 5 * time.Second // in case a notification is lost
	claimTimeout         = 500 * time.Millisecond
	denialTTL            = 5 * time.Minute // the same call is refused without review for so long
)

// needsApproval reports whether the call waits for a person. A resumed call was approved when it began.
func (a *attempt) needsApproval() bool {
	if a.resumed != nil && a.resumed.Approved != "" {
		a.call.ApprovedBy = a.resumed.Approved
		order := *a.order
		order.Meta = approvedMeta(order.Client)
		a.order = &order
		return false
	}
	return a.order.Tool.AsksAt(a.o.Now())
}

// runWithApproval asks for approval and runs the call. A call that cannot run is not shown, nor one that the
// approver could read differently from the server.
func (a *attempt) runWithApproval(ctx context.Context) (Outcome, error) {
	if err := a.checkReviewable(); err != nil {
		return a.recordRefusal(err)
	}
	if err := a.checkRecentDenial(ctx); err != nil {
		return a.recordRefusal(err)
	}
	if err := a.checkReady(ctx); err != nil {
		return a.recordRefusal(err)
	}
	ctx, span := tracing.Child(ctx, "approval")
	defer span.End()
	row, err := a.requestApproval(ctx)
	if err != nil {
		return a.recordRefusal(a.explainError(ctx, a.order.View, a.reach, err))
	}
	a.call.ID, a.call.Status = row.ID, connectors.CallPendingApproval
	if a.order.Task && !a.order.NoWait {
		raw, err := a.newApprovalTask(row)
		return Outcome{CallID: row.ID, Raw: raw, Task: err == nil, Call: a.call}, err
	}
	return a.waitForApproval(ctx, row.ID)
}

// checkReviewable returns an error if a person could not judge the arguments.
func (a *attempt) checkReviewable() error {
	switch arguments := a.rawArguments(); {
	case len(arguments) > maxReviewBytes:
		return &BadArguments{Sentence: "A person is asked about this call, and its arguments are more than anybody reads: 1 MiB is the most."}
	case isAmbiguous(arguments):
		return &BadArguments{Sentence: "A person is asked about this call, and its arguments can be read in two ways: an object names a member twice, or a text is not Unicode."}
	}
	return nil
}

// checkRecentDenial returns the denial of the same call within denialTTL.
func (a *attempt) checkRecentDenial(ctx context.Context) error {
	view := a.order.View
	var row connectors.Approval
	err := a.o.Store.Retry(ctx, a.order.Wait, func(ctx context.Context) (err error) {
		row, err = a.o.Store.Tenant(view.Tenant.ID).DeniedCall(ctx, view.Agent.ID, a.callHash(), a.o.Now().Add(-denialTTL))
		return err
	})
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return a.explainError(ctx, view, a.reach, err)
	}
	return deniedRefusal(row)
}

// checkReady returns the refusal that an approved call would meet now: an open circuit or a missing credential.
func (a *attempt) checkReady(ctx context.Context) error {
	view := a.order.View
	if wait := a.breakers.retryDelay(serverKey{view.Tenant.ID, a.reach.Connector.ID}, view.Agent.ID, a.o.Now()); wait > 0 {
		return circuitOpenRefusal(a.reach.Connector.Name, wait)
	}
	if _, err := a.pool.Resolve(ctx, a.sessionRequest()); err != nil {
		return a.explainError(ctx, view, a.reach, err)
	}
	return nil
}

// requestApproval inserts the row, or finds that of the same call. After a lost connection the insert may have
// succeeded: the row has the call's id, so the retry finds it.
func (a *attempt) requestApproval(ctx context.Context) (row connectors.Approval, err error) {
	var created, isNew bool
	defer func() {
		if !isNew { // also if the transaction panics
			a.refundQuota()
		}
	}()
	err = a.o.Store.Retry(ctx, a.order.Wait, func(ctx context.Context) error {
		row, created, err = a.insertApproval(ctx)
		return err
	})
	isNew = err == nil && (created || row.ID == a.call.ID)
	return row, err
}

func (a *attempt) insertApproval(ctx context.Context) (row connectors.Approval, created bool, err error) {
	view, tool := a.order.View, a.order.Tool
	err = a.o.Store.Tenant(view.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		row, created, err = tx.RequestApproval(ctx, store.NewApproval{
			ID: a.call.ID, AgentID: view.Agent.ID, ConnectorID: a.reach.Connector.ID, Tool: tool.Name, ExposedName: tool.Exposed,
			Definition: tool.Hash, CallHash: a.callHash(), Call: secret.Text(a.rawArguments()), ExpiresAt: a.o.Now().Add(approvalTTL),
		})
		if err != nil || !created {
			return err
		}
		openCount, err := tx.CountOpenApprovals(ctx, view.Agent.ID)
		if err != nil {
			return err
		}
		if openCount > maxOpenApprovals {
			return tooManyApprovalsRefusal()
		}
		pending := a.call
		calllog.Keep(&pending, view.Tenant.CallHistory)
		if err := tx.InsertPendingCall(ctx, pending); err != nil {
			return err
		}
		return a.chargeQuota()
	})
	return row, created, err
}

func tooManyApprovalsRefusal() *Refusal {
	return &Refusal{Code: CodeRateLimited, RetryAfter: time.Minute, Sentence: fmt.Sprintf(
		"%d calls of this agent wait for a person already. Wait until some are decided.", maxOpenApprovals)}
}

// waitForApproval waits for the result or the refusal, at most the tenant's approval timeout.
func (a *attempt) waitForApproval(ctx context.Context, id connectors.ToolCallID) (Outcome, error) {
	woken, unsubscribe := a.waiters.subscribe(id)
	defer unsubscribe()
	timeout := time.NewTimer(a.order.View.Tenant.ApprovalTimeout)
	defer timeout.Stop()
	poll, progress := time.NewTicker(waitPollInterval), time.NewTicker(waitProgressInterval)
	defer poll.Stop()
	defer progress.Stop()
	a.reportApprovalWait(0)
	for reports := 1; ; {
		out, done, err := a.pollApproval(ctx, id)
		if done || a.order.NoWait || a.isStopped() {
			if done {
				return out, err
			}
			return a.refusePending(ctx, id)
		}
		select {
		case <-woken:
		case <-poll.C:
		case <-progress.C:
			a.reportApprovalWait(reports)
			reports++
		case <-timeout.C:
			return a.refusePending(ctx, id)
		case <-ctx.Done():
			return a.cancelApprovalWait(ctx, id)
		}
	}
}

func (a *attempt) reportApprovalWait(n int) {
	if a.order.Progress != nil {
		a.order.Progress(json.RawMessage(fmt.Sprintf(`{"progress":%d,"message":"Waiting for approval"}`, n)))
	}
}

// pollApproval acts on the current state of the row. done: the call ran or was refused.
func (a *attempt) pollApproval(ctx context.Context, id connectors.ToolCallID) (out Outcome, done bool, _ error) {
	row, err := a.o.Store.Tenant(a.order.View.Tenant.ID).Approval(ctx, id)
	if err != nil {
		return Outcome{Call: a.call}, fault.Is(err, fault.NotFound), a.deletedRefusal(err) // the database may be away for a moment
	}
	switch row.State {
	case connectors.ApprovalApproved:
		return a.runIfClaimed(ctx, row)
	case connectors.ApprovalDone:
		out, err = a.fetchResult(ctx, id)
		return out, !fault.Is(err, fault.Unavailable), err
	case connectors.ApprovalDenied:
		return a.loadOutcome(ctx, id), true, a.withCallID(id, deniedRefusal(row))
	case connectors.ApprovalLapsed:
		return a.loadOutcome(ctx, id), true, a.withCallID(id, lapsedRefusal())
	case connectors.ApprovalUnknown:
		return a.loadOutcome(ctx, id), true, a.withCallID(id, unknownOutcomeRefusal())
	default:
		return out, false, nil
	}
}

func (a *attempt) deletedRefusal(err error) error {
	return a.withCallID(a.call.ID, &Refusal{Code: CodeNotGranted, Sentence: "The agent or the connector of this call is not there any more.", Err: err})
}

func lapsedRefusal() *Refusal {
	return &Refusal{Code: CodeCancelled, Sentence: "This call does not wait for approval any more. Make it again if it is still needed."}
}

func deniedRefusal(row connectors.Approval) *Refusal {
	sentence := "A person denied this call."
	if row.Reason != "" {
		sentence = "A person denied this call: " + row.Reason
	}
	return &Refusal{Code: CodeDenied, Sentence: sentence}
}

func unknownOutcomeRefusal() *Refusal {
	return &Refusal{Code: CodeOutcomeUnknown, Sentence: "This call was approved, and Patchbay stopped while it was made. Whether the tool ran is not known, and it is not run again. Look at what it was to change before you call it again."}
}

func (a *attempt) withCallID(id connectors.ToolCallID, r *Refusal) error {
	r.CallID = id
	return r
}

func (a *attempt) loadOutcome(ctx context.Context, id connectors.ToolCallID) Outcome {
	call, err := a.o.Store.Tenant(a.order.View.Tenant.ID).ToolCall(ctx, id)
	if err != nil {
		call = a.call
	}
	return Outcome{CallID: id, Call: call}
}

// refusePending tells the agent to repeat the call once it is approved.
func (a *attempt) refusePending(ctx context.Context, id connectors.ToolCallID) (Outcome, error) {
	return a.loadOutcome(ctx, id), a.withCallID(id, &Refusal{Code: CodeApprovalPending, RetryAfter: time.Minute, Sentence: fmt.Sprintf(
		"This call waits for a person's approval: %s Make the same call again when it was approved.", a.o.BaseURL+"/approvals/"+id.String())})
}

// cancelApprovalWait withdraws the approval of a call that its client cancelled, unless it was just decided.
func (a *attempt) cancelApprovalWait(ctx context.Context, id connectors.ToolCallID) (Outcome, error) {
	refusal := explainContext(ctx, a.reach.Connector)
	ctx = context.WithoutCancel(ctx)
	if tenant := a.order.View.Tenant.ID; refusal.Code == CodeCancelled {
		_, err := a.Caller.withdrawApproval(ctx, &withdrawal{Tenant: tenant, Call: id, Reason: refusal.Sentence, Wait: &store.WaitBudget{Tenant: tenant}})
		a.logUnsaved(ctx, err)
	}
	ctx, cancel := context.WithTimeout(ctx, noteTimeout)
	defer cancel()
	return a.loadOutcome(ctx, id), a.withCallID(id, refusal)
}
