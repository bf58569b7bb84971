package toolcall

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/agentview"
	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
)

// activeCall is one call in progress.
type activeCall struct {
	request    *CallRequest
	connector  *agentview.ConnectorView
	call       connectors.ToolCall     // as recorded at the start
	entry      *calllog.Entry          // nil: not recorded yet
	credential *credentials.Credential // the credential sent last; nil: none

	charge  quotaCharge
	wasSent bool // the request was sent: the server may have received it

	lastCheck  policyCheck
	approval   *connectors.Approval // claimed by this process; nil: none
	claimedCtx *callContext         // of an approval that an earlier request asked for; nil: this request did

	resumed      *callState // state in CallRequest.Input; nil: a new call
	registeredID connectors.ToolCallID
	hasWaiter    bool // a request receives the result of an approved call directly
	mayLend      bool // the outcome's memory may be lent
}

// Call makes a tool call. Errors for the client are *Refusal, *InvalidArgumentsError, and *mcp.Error with the server's
// JSON-RPC error.
func (c *Executor) Call(ctx context.Context, request CallRequest) (Outcome, error) {
	if out, done, err := c.accounts.resumeAfterAccount(ctx, &request); done {
		return out, err
	}
	out, err := c.startCall(ctx, &request)
	return c.accounts.requestAccount(ctx, &request, out, err)
}

func (c *Executor) startCall(ctx context.Context, request *CallRequest) (Outcome, error) {
	if request.Input == nil && needsMultiRound(request) {
		return c.multiRound.startMultiRound(ctx, *request)
	}
	return c.runCall(ctx, request)
}

// runCall does not change the order.
func (c *Executor) runCall(ctx context.Context, request *CallRequest) (Outcome, error) {
	a := &activeCall{request: request, connector: request.Tool.Connector, hasWaiter: !request.NoWait}
	a.call, a.lastCheck.waited = a.newCallRecord(c.o.Now()), request.Wait.Spent()
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
		return c.recorder.recordRefusal(a, tooManyCallsRefusal())
	}
	if err := c.checkPolicy(ctx, a); err != nil {
		return c.recorder.recordRefusal(a, c.explainer.explainBlocked(ctx, a, err))
	}
	if a.isMultiRound() {
		return c.multiRound.resumeMultiRound(ctx, a.request, *a.resumed.MultiRound)
	}
	if a.needsApproval(c.o.Now()) {
		return c.runWithApproval(ctx, a)
	}
	a.mayLend = request.AllowPooled
	return c.chargeAndSend(ctx, a)
}

func (c *Executor) chargeAndSend(ctx context.Context, a *activeCall) (out Outcome, err error) {
	defer c.recorder.recoverPanic(a, &out, &err)
	if err := c.limits.chargeQuota(a); err != nil { // approval is decided by now
		return c.recorder.recordRefusal(a, err)
	}
	if err := c.approvals.consumeApproval(ctx, a); err != nil {
		return c.recorder.recordRefusal(a, err)
	}
	c.recorder.beginEntry(a)
	return c.sendAndFinish(ctx, a)
}

func (a *activeCall) newCallRecord(now time.Time) connectors.ToolCall {
	request, connector := a.request, &a.connector.Connector
	id := request.ID
	if id == (connectors.ToolCallID{}) {
		id = newCallID()
	}
	return connectors.ToolCall{
		ID: id, AgentID: &request.View.Agent.ID, AgentSlug: request.View.Agent.Slug, ConnectorID: &connector.ID, ConnectorSlug: connector.Slug,
		Kind: connectors.CallTool, Tool: request.Tool.Name, ExposedName: request.Tool.Exposed, Source: request.Source, Caller: request.ActorName, CallOrigin: request.Origin,
		TokenID: request.Token, Definition: &request.Tool.Hash, Status: connectors.CallRunning, Arguments: request.Arguments, RequestBytes: int64(len(request.Arguments)),
		StartedAt: now,
	}
}

func newCallID() connectors.ToolCallID {
	return connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())} // fails only without a source of randomness
}

func (c *Executor) sendAndFinish(ctx context.Context, a *activeCall) (Outcome, error) {
	result, err := c.forwardCall(ctx, a)
	return c.recorder.finishCall(ctx, a, result, err)
}

// rawArguments are the call's arguments, always an object.
func (a *activeCall) rawArguments() json.RawMessage {
	if len(a.request.Arguments) == 0 {
		return json.RawMessage("{}")
	}
	return a.request.Arguments
}
