package toolcall

import (
	"context"
	"errors"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/safe"
	"patchbay/internal/tracing"
)

// A call passes these steps in order. Each step is a type with its own state and files. A step that refuses ends the call:
// the refusal is recorded, and the agent gets it.
//
//	Call
//	 │  resume      accountRequests   a call that asked for an account goes on           account.go
//	 │  begin       runningCalls      the call can be cancelled, and Stop waits for it    running.go
//	 │  slot        callLimits        the agent has few enough calls in flight            limiter.go
//	 ▼
//	checkPolicy
//	 │  authorize   authorizer        agent and tool                                      authorize.go
//	 │  validate    validator         arguments                                           validate.go
//	 │  open        handleSealer      the state of a call that goes on                    handles.go
//	 │  count       callLimits        rates, and quotas unless a person is asked          quota*.go, limit*.go
//	 │  refresh     definitionAges    the definition of a destructive tool                definition_age.go
//	 ▼
//	runWithApproval, if a person is asked ───────────────────┐
//	 │                             approve  approvals        │ wait, in any process       approval*.go
//	 ▼                                                       ▼
//	chargeAndSend                                     runApproved
//	 │  count       callLimits        quotas                 │ the policy again           quota_call.go
//	 │  consume     approvals         a resumed approval     │                            approval.go
//	 ▼                                                       │
//	sendAndFinish ◄──────────────────────────────────────────┘
//	    send        callSender        breaker, credential, session, request               upstream_call.go
//	    check       outputCheck       the result, by the tool's output schema             output.go
//	    record      callRecorder      history, quota of a call that was not sent          record.go

// Call makes a tool call. Errors for the client are *RefusalError, *InvalidArgumentsError, and *mcp.Error with the server's
// JSON-RPC error.
func (c *Executor) Call(ctx context.Context, request CallRequest) (Outcome, error) {
	out, done, err := c.accounts.resumeAfterAccount(ctx, &request)
	if done {
		return out, err
	}
	if needsMultiRound(&request) {
		out, err = c.multiRound.startMultiRound(ctx, &request)
	} else {
		out, err = c.runCall(ctx, &request)
	}
	out, err = c.accounts.requestAccount(ctx, &request, out, err)
	if request.HandshakeTasks && out.Task && err == nil {
		out.Raw, err = formatCreatedTask(out.Raw, out.Call.StartedAt)
	}
	return out, err
}

// runCall registers the call and runs its steps. It does not change the order.
func (c *Executor) runCall(ctx context.Context, request *CallRequest) (Outcome, error) {
	a := newActiveCall(request, c.o.Now())
	callCtx, err := c.running.beginCall(ctx, a.call.ID)
	if err != nil {
		return Outcome{}, err
	}
	defer callCtx.endCall()
	owner := slotOwner(request.View)
	if !c.limits.inFlight.TryAcquire(owner) {
		return c.recorder.recordRefusal(a, tooManyCallsRefusal())
	}
	defer c.limits.inFlight.Release(owner)
	return c.runSteps(callCtx, a)
}

func (c *Executor) runSteps(ctx context.Context, a *activeCall) (Outcome, error) {
	if err := c.checkPolicy(ctx, a); err != nil {
		return c.recorder.recordRefusal(a, c.explainer.explainBlocked(ctx, a, err))
	}
	switch {
	case a.isMultiRound():
		return c.multiRound.resumeMultiRound(ctx, a.request, *a.resumed.MultiRound)
	case a.needsApproval(c.o.Now()):
		return c.runWithApproval(ctx, a)
	default:
		a.mayLend = a.request.AllowPooled
		return c.chargeAndSend(ctx, a)
	}
}

// checkPolicy passes the steps before approval, in a span.
func (c *Executor) checkPolicy(ctx context.Context, a *activeCall) error {
	ctx, span := tracing.Child(ctx, "policy")
	defer span.End()
	err := c.passPolicy(ctx, a)
	span.Fail(failureCode(err))
	return err
}

func (c *Executor) passPolicy(ctx context.Context, a *activeCall) error {
	if err := c.authorizer.checkGrant(a); err != nil {
		return err
	}
	if err := c.validator.validateArguments(ctx, a, a.request.Tool); err != nil {
		return err
	}
	if err := c.handles.openState(a); err != nil {
		return err
	}
	if err := c.limits.applyCallLimits(a); err != nil {
		return err
	}
	return c.definitions.checkDefinitionAge(ctx, a)
}

// runWithApproval asks a person, waits, and runs the call if this process claims it.
func (c *Executor) runWithApproval(ctx context.Context, a *activeCall) (Outcome, error) {
	if err := c.approvals.checkRequest(ctx, a); err != nil {
		return c.recorder.recordRefusal(a, err)
	}
	ctx, span := tracing.Child(ctx, "approval")
	defer span.End()
	row, err := c.approvals.requestApproval(ctx, a)
	if err != nil {
		return c.recorder.recordRefusal(a, c.explainer.explainError(ctx, a.request.View, a.connector, err))
	}
	a.call.ID, a.call.Status = row.ID, connectors.CallPendingApproval
	if a.request.Task && !a.request.NoWait {
		return c.approvals.newApprovalTask(ctx, a, row)
	}
	out, err := c.approvals.waitForApproval(ctx, a, row.ID)
	if a.approval == nil {
		return out, err
	}
	if a.claimedCtx != nil {
		defer a.claimedCtx.endCall()
		ctx = a.claimedCtx
	}
	return c.runApproved(ctx, a, *a.approval)
}

// chargeAndSend sends a call that needs no approval, or has it.
func (c *Executor) chargeAndSend(ctx context.Context, a *activeCall) (out Outcome, err error) {
	defer c.recorder.recoverPanic(a, &out, &err)
	if err := c.limits.chargeQuota(a); err != nil { // approval is decided by now
		return c.recorder.recordRefusal(a, err)
	}
	if err := c.approvals.consumeApproval(ctx, a); err != nil {
		return c.recorder.recordRefusal(a, err)
	}
	a.call.CredentialID = a.knownAccount()
	c.recorder.beginEntry(a)
	return c.sendAndFinish(ctx, a)
}

// runApproved runs a claimed call and stores its result. It runs what was approved: with the reviewed
// definition, and only if the agent still may.
func (c *Executor) runApproved(ctx context.Context, a *activeCall, row connectors.Approval) (Outcome, error) {
	c.approvals.beginApproved(ctx, a, row)
	out, err := c.runIfStillApproved(ctx, a, row)
	c.approvals.saveResultWithRetry(ctx, a, a.request.View.Tenant.ID, row.ID, out, err)
	return out, err
}

// runIfStillApproved runs a recorded call. A panic becomes its failure.
func (c *Executor) runIfStillApproved(ctx context.Context, a *activeCall, row connectors.Approval) (out Outcome, err error) {
	defer c.recorder.recoverPanic(a, &out, &err)
	if err := c.recheckApproval(ctx, a, row); err != nil {
		return c.recorder.finishCall(ctx, a, nil, c.explainer.explainBlocked(ctx, a, err))
	}
	return c.sendAndFinish(ctx, a)
}

// sendAndFinish sends the call, and records its result or error.
func (c *Executor) sendAndFinish(ctx context.Context, a *activeCall) (Outcome, error) {
	result, err := c.forwardCall(ctx, a)
	return c.recorder.finishCall(ctx, a, result, err)
}

// forwardCall sends the call unless the circuit is open, and explains errors. A call that waited for the
// database is checked again first.
func (c *Executor) forwardCall(ctx context.Context, a *activeCall) (*mcp.Result, error) {
	for {
		result, err := c.sender.forwardOnce(ctx, a)
		if !errors.Is(err, errPolicyStale) {
			return result, err
		}
		a.lastCheck = policyCheck{waited: a.request.Wait.Spent(), fromDatabase: true}
		if err := c.recheckPolicy(ctx, a); err != nil {
			return nil, c.explainer.explainBlocked(ctx, a, err)
		}
	}
}

// recheckPolicy checks the policy of a call that waited for the database.
func (c *Executor) recheckPolicy(ctx context.Context, a *activeCall) error {
	if a.approval != nil {
		return c.recheckApproval(ctx, a, *a.approval)
	}
	if err := c.authorizer.reauthorize(ctx, a); err != nil {
		return err
	}
	if a.call.ApprovedBy == "" && a.request.Tool.NeedsApprovalAt(c.o.Now()) {
		return approvalNeededRefusal()
	}
	return nil
}

func approvalNeededRefusal() *RefusalError {
	return &RefusalError{Code: CodeUnavailable, RetryAfter: time.Second, Sentence: "This call now needs approval. Repeat it."}
}

// recheckApproval checks agent, tool and definition, which is synced again if it is too old.
func (c *Executor) recheckApproval(ctx context.Context, a *activeCall, row connectors.Approval) error {
	if err := c.approvals.reloadOrder(ctx, a, row); err != nil {
		return err
	}
	if err := c.definitions.checkDefinitionAge(ctx, a); err != nil {
		return err
	}
	return a.checkDefinition(row)
}

// runDetached runs an approved call that has no waiting request. It returns once the call is claimed.
func (c *Executor) runDetached(ctx context.Context, t connectors.TenantID, row connectors.Approval) {
	callCtx, err := c.running.beginCall(context.WithoutCancel(ctx), row.ID)
	if err != nil {
		return
	}
	started := false
	defer func() {
		if !started { // also if claimApproval panics
			callCtx.endCall()
		}
	}()
	claimed, err := c.approvals.claimApproval(ctx, t, row)
	if err != nil || !claimed {
		c.o.logUnsaved(ctx, err)
		return
	}
	started = true
	safe.Go(safe.Call, func() { // Stop waits for endCall
		defer callCtx.endCall()
		c.runStored(callCtx, t, row)
	})
}

// runStored runs an approved call with its stored arguments.
func (c *Executor) runStored(ctx context.Context, t connectors.TenantID, row connectors.Approval) {
	a := &activeCall{registeredID: row.ID}
	err := safe.Try(safe.Call, func() error { return c.approvals.restoreOrder(ctx, a, t, row) })()
	if err != nil {
		c.approvals.recordFailure(ctx, a, t, row, err)
		return
	}
	_, _ = c.runApproved(ctx, a, row) // runApproved stores result and error
}
