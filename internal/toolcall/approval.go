package toolcall

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
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

// approvals are the calls that wait for a person. The executor runs those that this process claims.
type approvals struct {
	o         *Options
	running   *runningCalls
	waiters   *waiterSet
	explainer *explainer
	handles   *handleSealer
	mail      *mailboxes
	limits    *callLimits
	sender    *callSender
	recorder  *callRecorder
	announcer *taskAnnouncer
}

// needsApproval reports whether the call waits for a person. A resumed call was approved when it began.
func (a *activeCall) needsApproval(now time.Time) bool {
	if a.resumed != nil && a.resumed.Approved != "" {
		a.call.ApprovedBy = a.resumed.Approved
		request := *a.request
		request.Meta = approvedMeta(request.Client)
		a.request = &request
		return false
	}
	return a.request.Tool.NeedsApprovalAt(now)
}

// checkRequest returns why no person is asked. A call that cannot run is not shown, nor one that the approver could read
// differently from the server.
func (ap *approvals) checkRequest(ctx context.Context, a *activeCall) error {
	if err := a.checkReviewable(); err != nil {
		return err
	}
	checks := []func(context.Context, *activeCall) error{ap.checkRecentDenial, ap.sender.checkReady}
	if a.connector.Grant.Account() != "" { // the hash of the denied call has the account, which is known then
		slices.Reverse(checks)
	}
	for _, check := range checks {
		if err := check(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// checkReviewable returns an error if a person could not judge the arguments.
func (a *activeCall) checkReviewable() error {
	switch arguments := a.rawArguments(); {
	case len(arguments) > maxReviewBytes:
		return &InvalidArgumentsError{Sentence: "This call needs approval, and its arguments are too long to review (maximum 1 MiB)."}
	case isAmbiguous(arguments):
		return &InvalidArgumentsError{Sentence: "This call needs approval, and its arguments are ambiguous: an object has a duplicate member, or a text isn't Unicode."}
	}
	return nil
}

// checkRecentDenial returns the denial of the same call within denialTTL.
func (ap *approvals) checkRecentDenial(ctx context.Context, a *activeCall) error {
	view := a.request.View
	var row connectors.Approval
	err := ap.o.Store.Retry(ctx, a.request.Wait, func(ctx context.Context) (err error) {
		row, err = ap.o.Store.Tenant(view.Tenant.ID).Calls().DeniedCall(ctx, view.Agent.ID, a.approvalHash(), ap.o.Now().Add(-denialTTL))
		return err
	})
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return ap.explainer.explainError(ctx, view, a.connector, err)
	}
	sentence := "The same call was denied less than five minutes ago. No new approval was requested."
	if row.Reason != "" {
		sentence += " Reason: " + row.Reason
	}
	return &RefusalError{Code: CodeDenied, Sentence: sentence}
}

// checkReady returns the refusal that an approved call would meet now: an open circuit or a missing credential. From now on the call is for
// the account that it found.
func (cs *callSender) checkReady(ctx context.Context, a *activeCall) error {
	view := a.request.View
	if wait := cs.breakers.retryDelay(serverKey{view.Tenant.ID, a.connector.Connector.ID}, view.Agent.ID, cs.o.Now()); wait > 0 {
		return circuitOpenRefusal(a.connector.Connector.Name, wait)
	}
	credential, err := cs.pool.Resolve(ctx, cs.sessionRequest(a))
	if err != nil {
		return cs.explainer.explainError(ctx, view, a.connector, err)
	}
	a.account = usedAccount(credential)
	return nil
}

// requestApproval inserts the row, or finds that of the same call. After a lost connection the insert may have
// succeeded: the row has the call's id, so the retry finds it.
func (ap *approvals) requestApproval(ctx context.Context, a *activeCall) (row connectors.Approval, err error) {
	var created, isNew bool
	defer func() {
		if !isNew { // also if the transaction panics
			ap.limits.refundQuota(a)
		}
	}()
	var ended connectors.ToolCallID // the same call with another account
	err = ap.o.Store.Retry(ctx, a.request.Wait, func(ctx context.Context) error {
		row, created, ended, err = ap.insertApproval(ctx, a)
		return err
	})
	isNew = err == nil && (created || row.ID == a.call.ID)
	if err == nil && ended != (connectors.ToolCallID{}) {
		ap.waiters.wake(ended)
		ap.recorder.reportEnded(ctx, a.request.View.Tenant.ID, ended)
	}
	return row, err
}

func (ap *approvals) insertApproval(ctx context.Context, a *activeCall) (row connectors.Approval, created bool, ended connectors.ToolCallID, err error) {
	view, tool := a.request.View, a.request.Tool
	err = ap.o.Store.Tenant(view.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		if ended, err = tx.Calls().CloseApprovalOfOther(ctx, a.approvalHash(), a.account); err != nil {
			return err
		}
		row, created, err = tx.Calls().RequestApproval(ctx, store.NewApproval{
			ID: a.call.ID, AgentID: view.Agent.ID, ConnectorID: a.connector.Connector.ID, Kind: a.call.Kind, Tool: tool.Name, ExposedName: tool.Exposed,
			Definition: tool.Hash, CallHash: a.approvalHash(), Call: secret.Text(a.rawArguments()), ExpiresAt: ap.o.Now().Add(approvalTTL),
			Caller: a.request.Caller, Account: a.account,
		})
		if err != nil || !created {
			return err
		}
		openCount, err := tx.Calls().CountOpenApprovals(ctx, view.Agent.ID)
		if err != nil {
			return err
		}
		if openCount > maxOpenApprovals {
			return tooManyApprovalsRefusal()
		}
		pending := a.call
		calllog.ApplyRetention(&pending, view.Tenant.CallHistory)
		if err := tx.Calls().InsertPendingCall(ctx, pending); err != nil {
			return err
		}
		if a.call.Kind != connectors.CallTool {
			return nil // quotas are of tools
		}
		return ap.limits.chargeQuota(a)
	})
	return row, created, ended, err
}

func tooManyApprovalsRefusal() *RefusalError {
	return &RefusalError{Code: CodeRateLimited, RetryAfter: time.Minute, Sentence: fmt.Sprintf(
		"This agent already has %d calls waiting for approval. Wait until some are decided.", maxOpenApprovals)}
}

// waitForApproval waits for the claimed call, the result or the refusal, at most the tenant's approval timeout.
func (ap *approvals) waitForApproval(ctx context.Context, a *activeCall, id connectors.ToolCallID) (Outcome, error) {
	woken, unsubscribe := ap.waiters.subscribe(id)
	defer unsubscribe()
	timeout := time.NewTimer(a.request.View.Tenant.ApprovalTimeout)
	defer timeout.Stop()
	poll, progress := time.NewTicker(waitPollInterval), time.NewTicker(waitProgressInterval)
	defer poll.Stop()
	defer progress.Stop()
	a.reportApprovalWait(0)
	for reports := 1; ; {
		out, done, err := ap.pollApproval(ctx, a, id)
		if done || a.request.NoWait || ap.running.isStopped() {
			if done {
				return out, err
			}
			return ap.pendingOutcome(ctx, a, id)
		}
		select {
		case <-woken:
		case <-poll.C:
		case <-progress.C:
			a.reportApprovalWait(reports)
			reports++
		case <-timeout.C:
			return ap.pendingOutcome(ctx, a, id)
		case <-ctx.Done():
			return ap.cancelApprovalWait(ctx, a, id)
		}
	}
}

func (a *activeCall) reportApprovalWait(n int) {
	if a.request.Progress != nil {
		a.request.Progress(json.RawMessage(fmt.Sprintf(`{"progress":%d,"message":"Waiting for approval"}`, n)))
	}
}

// pollApproval acts on the current state of the row. done: the call is claimed, or it has its outcome.
func (ap *approvals) pollApproval(ctx context.Context, a *activeCall, id connectors.ToolCallID) (out Outcome, done bool, _ error) {
	row, err := ap.o.Store.Tenant(a.request.View.Tenant.ID).Calls().Approval(ctx, id)
	if err != nil {
		return Outcome{Call: a.call}, fault.Is(err, fault.NotFound), a.deletedRefusal(err) // the database may be away for a moment
	}
	switch row.State {
	case connectors.ApprovalApproved:
		done, err = ap.claimCall(ctx, a, row)
		return out, done, err
	case connectors.ApprovalDone:
		out, err = ap.fetchResult(ctx, a, id)
		return out, !fault.Is(err, fault.Unavailable), err
	case connectors.ApprovalDenied:
		return ap.loadOutcome(ctx, a, id), true, a.withCallID(id, deniedRefusal(row))
	case connectors.ApprovalLapsed:
		return ap.loadOutcome(ctx, a, id), true, a.withCallID(id, expiredApprovalRefusal())
	case connectors.ApprovalUnknown:
		return ap.loadOutcome(ctx, a, id), true, a.withCallID(id, unknownOutcomeRefusal())
	default:
		return out, false, nil
	}
}

func (a *activeCall) deletedRefusal(err error) error {
	return a.withCallID(a.call.ID, &RefusalError{Code: CodeNotGranted, Sentence: "The agent or connector of this call no longer exists.", Err: err})
}

func expiredApprovalRefusal() *RefusalError {
	return &RefusalError{Code: CodeCancelled, Sentence: "This call is no longer waiting for approval. Repeat it if you still need it."}
}

func deniedRefusal(row connectors.Approval) *RefusalError {
	sentence := "This call was denied."
	if row.Reason != "" {
		sentence = "This call was denied: " + row.Reason
	}
	return &RefusalError{Code: CodeDenied, Sentence: sentence}
}

func unknownOutcomeRefusal() *RefusalError {
	return &RefusalError{Code: CodeOutcomeUnknown, Sentence: "This call was approved, but Patchbay stopped during it. The tool may have run, and won't run again. Check before repeating the call."}
}

func (a *activeCall) withCallID(id connectors.ToolCallID, r *RefusalError) error {
	r.CallID = id
	return r
}

func (ap *approvals) loadOutcome(ctx context.Context, a *activeCall, id connectors.ToolCallID) Outcome {
	call, err := ap.o.Store.Tenant(a.request.View.Tenant.ID).Calls().Get(ctx, id)
	if err != nil {
		call = a.call
	}
	return Outcome{CallID: id, Call: call}
}

// pendingOutcome tells the agent to repeat the call once it is approved.
func (ap *approvals) pendingOutcome(ctx context.Context, a *activeCall, id connectors.ToolCallID) (Outcome, error) {
	return ap.loadOutcome(ctx, a, id), a.withCallID(id, &RefusalError{Code: CodeApprovalPending, RetryAfter: time.Minute, Sentence: fmt.Sprintf(
		"This call is waiting for approval: %s Repeat it once approved.", ap.o.BaseURL+"/approvals/"+id.String())})
}

// cancelApprovalWait withdraws the approval of a call that its client cancelled, unless it was just decided.
func (ap *approvals) cancelApprovalWait(ctx context.Context, a *activeCall, id connectors.ToolCallID) (Outcome, error) {
	refusal := explainContext(ctx, a.connector.Connector)
	ctx = context.WithoutCancel(ctx)
	if tenant := a.request.View.Tenant.ID; refusal.Code == CodeCancelled {
		_, err := ap.withdrawApproval(ctx, &withdrawal{Tenant: tenant, Call: id, Reason: refusal.Sentence, Wait: &store.WaitBudget{Tenant: tenant}})
		ap.o.logUnsaved(ctx, err)
	}
	ctx, cancel := context.WithTimeout(ctx, noteTimeout)
	defer cancel()
	return ap.loadOutcome(ctx, a, id), a.withCallID(id, refusal)
}
