package toolcall

import (
	"context"
	"log/slog"
	"sync/atomic"

	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/safe"
)

// callRecorder records calls and their ends in the history.
type callRecorder struct {
	o           *Options
	running     *runningCalls
	handles     *handleSealer
	limits      *callLimits
	undelivered atomic.Int64 // writes in flight that mark results as undelivered
}

// beginEntry records the beginning of a call.
func (rec *callRecorder) beginEntry(a *activeCall) {
	a.entry = rec.o.History.Begin(a.request.View.Tenant, a.call)
}

// setEntryAccount records the account that a request is sent with. Both may be nil.
func setEntryAccount(e *calllog.Entry, u *credentials.Credential) {
	if e != nil && u != nil {
		e.SetAccount(u.ID)
	}
}

// recordRefusal records a call that was not sent, and returns its refusal.
func (rec *callRecorder) recordRefusal(a *activeCall, err error) (Outcome, error) {
	rec.beginEntry(a)
	return rec.finishCall(context.Background(), a, nil, err)
}

// endWithRefusal is recordRefusal for a step that may go on. done is true.
func (rec *callRecorder) endWithRefusal(a *activeCall, err error) (_ Outcome, done bool, _ error) {
	out, err := rec.recordRefusal(a, err)
	return out, true, err
}

// recoverPanic turns a panic into the failure of the call that deferred it. The call is recorded, and its quota
// refunded if it was not sent.
func (rec *callRecorder) recoverPanic(a *activeCall, out *Outcome, err *error) {
	v := recover()
	if v == nil {
		return
	}
	panicErr := safe.Caught(safe.Call, v, slog.String("tool_call_id", a.call.ID.String()))
	*out, *err = Outcome{CallID: a.call.ID, Call: a.call}, panicErr
	defer safe.Recover(safe.Call) // finishCall may have panicked before
	if a.entry == nil {
		rec.beginEntry(a)
	}
	*out, *err = rec.finishCall(context.Background(), a, nil, panicErr)
}

// finishCall records the end of a call, and returns its outcome.
func (rec *callRecorder) finishCall(ctx context.Context, a *activeCall, result *mcp.Result, err error) (Outcome, error) {
	out := Outcome{CallID: a.call.ID, Call: a.call}
	if err == nil {
		if result.Task == nil && result.InputRequired == nil {
			result = withholdSkillsOf(a.connector, result)
		}
		err = rec.fillOutcome(ctx, a, result, &out)
	}
	if out.Task && result.Task != nil {
		return out, err // the call continues as a task
	}
	if !a.wasSent {
		rec.limits.refundQuota(a)
	}
	a.upstream = rec.readUpstream(ctx, a.request.View, a.connector, a.credential, err)
	setOutcome := func(c *connectors.ToolCall) { rec.setOutcome(a, c, result, err) }
	if hasReusedMemory(result) {
		out.Call, out.lent = a.entry.EndPooled(setOutcome), result
	} else {
		out.Call = a.entry.End(setOutcome)
	}
	if a.output.refusal != nil && !out.Task {
		out.withholdResult()
	}
	if rec.o.OnEnd != nil {
		rec.o.OnEnd(out.Call)
	}
	return out, a.addCallID(err)
}

func (rec *callRecorder) fillOutcome(ctx context.Context, a *activeCall, result *mcp.Result, out *Outcome) (err error) {
	out.Raw, out.IsError = result.Raw, result.IsError
	switch {
	case result.InputRequired != nil:
		if err := checkInputRequest(result.Raw, a.request.Client, a.connector.Connector); err != nil {
			return err
		}
		out.InputRequired = true
		out.Raw, err = rec.handles.sealInputState(ctx, a, result)
	case result.Task != nil:
		out.Raw, err = rec.sealTask(ctx, a, result.Task)
		out.Task = err == nil
	default:
		a.output = checkOutput(ctx, a.request.View, a.request.Tool, result.Structured, result.IsError)
		refusal := a.output.refusal
		switch {
		case a.request.HandshakeTasks:
			if refusal != nil {
				result = &mcp.Result{Raw: toToolResult(refusal, ""), IsError: true}
			}
			out.Raw, err = rec.saveTaskResult(ctx, a, result)
			out.Task = err == nil
		case refusal != nil:
			return refusal
		}
	}
	return err
}

// withholdResult drops the result and releases its memory.
func (o *Outcome) withholdResult() {
	if o.lent != nil {
		o.lent.Release()
	}
	o.Raw, o.IsError, o.lent = nil, false, nil
}

// hasReusedMemory reports whether the result's memory is reused, so that the history needs a copy. The history
// drops a longer result anyway.
func hasReusedMemory(result *mcp.Result) bool {
	return result != nil && result.IsPooled() && len(result.Content)+len(result.Structured) <= connectors.MaxHistoryBytes
}

func (a *activeCall) addCallID(err error) error {
	if r, ok := err.(*RefusalError); ok && r.CallID == (connectors.ToolCallID{}) { //nolint:errorlint // it is ours, and at the top
		r.CallID = a.call.ID
	}
	return err
}

// reportEnded reports a call that ended outside of its history entry: quota, listeners, metrics. It returns the call, if it
// can be read.
func (rec *callRecorder) reportEnded(ctx context.Context, t connectors.TenantID, id connectors.ToolCallID) (call connectors.ToolCall, ok bool) {
	call, err := rec.o.Store.Tenant(t).Calls().Get(ctx, id)
	if err != nil {
		return call, false
	}
	rec.limits.refundApproval(ctx, t, call)
	rec.o.History.Publish(t, call)
	if rec.o.OnEnd != nil {
		rec.o.OnEnd(call)
	}
	return call, true
}

func (rec *callRecorder) setOutcome(a *activeCall, c *connectors.ToolCall, result *mcp.Result, err error) {
	endedAt := rec.o.Now()
	c.CompletedAt, c.Duration = &endedAt, max(0, endedAt.Sub(c.StartedAt))
	switch {
	case a.credential != nil:
		c.CredentialID = &a.credential.ID
	case a.call.CredentialID != nil: // nothing was sent with it
		c.CredentialID = nil
	}
	if a.lastTask != nil {
		c.Task = a.request.trimTask(a.lastTask)
	}
	if err != nil && (result == nil || a.output.refusal == nil) {
		setErrorOutcome(c, err)
		c.Upstream = a.upstream
		return
	}
	if a.inNewSession {
		c.Upstream = &connectors.Upstream{NewSession: true}
	}
	c.Status, c.Outcome = connectors.CallSuccess, connectors.OutcomeOK
	c.Content, c.Structured, c.ResponseBytes = result.Content, result.Structured, int64(len(result.Raw))
	switch {
	case result.IsError:
		c.Status, c.Outcome, c.IsError = connectors.CallError, connectors.OutcomeToolError, true
	case result.InputRequired != nil:
		c.ErrorCode, c.ErrorMessage = codeInputRequired, "The server asked for input; the call continued in another request."
	}
	a.output.recordIn(c)
}
