package toolcall

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/google/uuid"

	"patchbay/internal/agentview"
	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/safe"
)

// activeCall is one call in progress.
type activeCall struct {
	*Executor
	request    *CallRequest
	connector  *agentview.ConnectorView
	call       connectors.ToolCall     // as recorded at the start
	entry      *calllog.Entry          // nil: not recorded yet
	credential *credentials.Credential // the credential sent last; nil: none

	charge  quotaCharge
	wasSent bool // the request was sent: the server may have received it

	lastCheck policyCheck
	approval  *connectors.Approval // claimed by this process; nil: none

	resumed      *callState // state in CallRequest.Input; nil: a new call
	registeredID connectors.ToolCallID
	hasWaiter    bool // a request receives the result of an approved call directly
	mayLend      bool // the outcome's memory may be lent
}

// Call makes a tool call. Errors for the client are *Refusal, *InvalidArgumentsError, and *mcp.Error with the server's
// JSON-RPC error.
func (c *Executor) Call(ctx context.Context, request CallRequest) (Outcome, error) {
	if out, done, err := c.resumeAfterAccount(ctx, &request); done {
		return out, err
	}
	out, err := c.startCall(ctx, &request)
	return c.requestAccount(ctx, &request, out, err)
}

func (c *Executor) startCall(ctx context.Context, request *CallRequest) (Outcome, error) {
	if request.Input == nil && needsMultiRound(request) {
		return c.startMultiRound(ctx, *request)
	}
	return c.runCall(ctx, request)
}

// runCall does not change the order.
func (c *Executor) runCall(ctx context.Context, request *CallRequest) (Outcome, error) {
	a := &activeCall{Executor: c, request: request, connector: request.Tool.Connector, hasWaiter: !request.NoWait}
	a.call, a.lastCheck.waited = a.newCallRecord(), request.Wait.Spent()
	a.registeredID = a.call.ID
	callCtx, err := c.running.beginCall(ctx, a.call.ID)
	if err != nil {
		return Outcome{}, err
	}
	defer callCtx.endCall()
	ctx = callCtx
	if agent := request.View.Agent.ID; c.limits.inFlight.TryAcquire(agent) {
		defer c.limits.inFlight.Release(agent)
	} else {
		return a.recordRefusal(tooManyCallsRefusal())
	}
	if err := c.checkPolicy(ctx, a); err != nil {
		return a.recordRefusal(c.explainer.explainBlocked(ctx, a, err))
	}
	if a.isMultiRound() {
		return c.resumeMultiRound(ctx, a.request, *a.resumed.MultiRound)
	}
	if a.needsApproval(c.o.Now()) {
		return a.runWithApproval(ctx)
	}
	a.mayLend = request.AllowPooled
	return a.chargeAndSend(ctx)
}

func (a *activeCall) chargeAndSend(ctx context.Context) (out Outcome, err error) {
	defer a.recoverPanic(&out, &err)
	if err := a.limits.chargeQuota(a); err != nil { // approval is decided by now
		return a.recordRefusal(err)
	}
	if err := a.consumeApproval(ctx); err != nil {
		return a.recordRefusal(err)
	}
	a.entry = a.o.History.Begin(a.request.View.Tenant, a.call)
	return a.sendAndFinish(ctx)
}

// recoverPanic turns a panic into the failure of the call that deferred it. The call is recorded, and its quota
// refunded if it was not sent.
func (a *activeCall) recoverPanic(out *Outcome, err *error) {
	v := recover()
	if v == nil {
		return
	}
	panicErr := safe.Caught(safe.Call, v, slog.String("tool_call_id", a.call.ID.String()))
	*out, *err = Outcome{CallID: a.call.ID, Call: a.call}, panicErr
	defer safe.Recover(safe.Call) // finishCall may have panicked before
	if a.entry == nil {
		a.entry = a.o.History.Begin(a.request.View.Tenant, a.call)
	}
	*out, *err = a.finishCall(context.Background(), nil, panicErr)
}

func (a *activeCall) newCallRecord() connectors.ToolCall {
	request, connector := a.request, &a.connector.Connector
	id := request.ID
	if id == (connectors.ToolCallID{}) {
		id = newCallID()
	}
	return connectors.ToolCall{
		ID: id, AgentID: &request.View.Agent.ID, AgentSlug: request.View.Agent.Slug, ConnectorID: &connector.ID, ConnectorSlug: connector.Slug,
		Kind: connectors.CallTool, Tool: request.Tool.Name, ExposedName: request.Tool.Exposed, Source: request.Source, Caller: request.ActorName, CallOrigin: request.Origin,
		TokenID: request.Token, Definition: &request.Tool.Hash, Status: connectors.CallRunning, Arguments: request.Arguments, RequestBytes: int64(len(request.Arguments)),
		StartedAt: a.o.Now(),
	}
}

func newCallID() connectors.ToolCallID {
	return connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())} // fails only without a source of randomness
}

func (a *activeCall) sendAndFinish(ctx context.Context) (Outcome, error) {
	result, err := a.Executor.forwardCall(ctx, a)
	return a.finishCall(ctx, result, err)
}

func (a *activeCall) finishCall(ctx context.Context, result *mcp.Result, err error) (Outcome, error) {
	out := Outcome{CallID: a.call.ID, Call: a.call}
	if err == nil {
		err = a.fillOutcome(ctx, result, &out)
	}
	if out.Task {
		return out, err // the call continues as a task
	}
	if !a.wasSent {
		a.limits.refundQuota(a)
	}
	setOutcome := func(c *connectors.ToolCall) { a.setOutcome(c, result, err) }
	if hasReusedMemory(result) {
		out.Call, out.lent = a.entry.EndPooled(setOutcome), result
	} else {
		out.Call = a.entry.End(setOutcome)
	}
	if a.o.OnEnd != nil {
		a.o.OnEnd(out.Call)
	}
	return out, a.addCallID(err)
}

// hasReusedMemory reports whether the result's memory is reused, so that the history needs a copy. The history
// drops a longer result anyway.
func hasReusedMemory(result *mcp.Result) bool {
	return result != nil && result.IsPooled() && len(result.Content)+len(result.Structured) <= connectors.MaxHistoryBytes
}

func (a *activeCall) fillOutcome(ctx context.Context, result *mcp.Result, out *Outcome) (err error) {
	out.Raw, out.IsError = result.Raw, result.IsError
	switch {
	case result.InputRequired != nil:
		if err := checkInputRequest(result.Raw, a.request.Client, a.connector.Connector); err != nil {
			return err
		}
		out.InputRequired = true
		out.Raw, err = a.handles.sealInputState(ctx, a, result)
	case result.Task != nil:
		out.Raw, err = a.sealTask(ctx, result.Task)
		out.Task = err == nil
	}
	return err
}

func (a *activeCall) recordRefusal(err error) (Outcome, error) {
	a.entry = a.o.History.Begin(a.request.View.Tenant, a.call)
	return a.finishCall(context.Background(), nil, err)
}

func (a *activeCall) addCallID(err error) error {
	if r, ok := err.(*RefusalError); ok && r.CallID == (connectors.ToolCallID{}) { //nolint:errorlint // it is ours, and at the top
		r.CallID = a.call.ID
	}
	return err
}

// rawArguments are the call's arguments, always an object.
func (a *activeCall) rawArguments() json.RawMessage {
	if len(a.request.Arguments) == 0 {
		return json.RawMessage("{}")
	}
	return a.request.Arguments
}
