package toolcall

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/google/uuid"

	"patchbay/internal/agentview"
	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/safe"
)

// attempt is one call in progress.
type attempt struct {
	*Caller
	order      *Order
	reach      *agentview.Reach
	call       connectors.ToolCall // as recorded at the start
	entry      *calllog.Entry      // nil: not recorded yet
	credential *credentials.Usable // the credential sent last; nil: none

	charge  quotaCharge
	wasSent bool // the request was sent: the server may have received it

	lastCheck policyCheck
	approval  *connectors.Approval // claimed by this process; nil: none

	resumed      *callState // state in Order.Input; nil: a new call
	registeredID connectors.ToolCallID
	hasWaiter    bool // a request receives the result of an approved call directly
	mayLend      bool // the outcome's memory may be lent
}

// Call makes a tool call. Errors for the client are *Refusal, *BadArguments, and *mcp.Error with the server's
// JSON-RPC error.
func (c *Caller) Call(ctx context.Context, o Order) (Outcome, error) {
	if out, done, err := c.resumeAfterAccount(ctx, &o); done {
		return out, err
	}
	out, err := c.startCall(ctx, &o)
	return c.requestAccount(ctx, &o, out, err)
}

func (c *Caller) startCall(ctx context.Context, o *Order) (Outcome, error) {
	if o.Input == nil && needsMultiRound(o) {
		return c.startMultiRound(ctx, *o)
	}
	return c.runCall(ctx, o)
}

// runCall does not change the order.
func (c *Caller) runCall(ctx context.Context, o *Order) (Outcome, error) {
	a := &attempt{Caller: c, order: o, reach: o.Tool.Reach, hasWaiter: !o.NoWait}
	a.call, a.lastCheck.waited = a.newCallRecord(), o.Wait.Spent()
	a.registeredID = a.call.ID
	callCtx, err := c.beginCall(ctx, a.call.ID)
	if err != nil {
		return Outcome{}, err
	}
	defer callCtx.endCall()
	ctx = callCtx
	if agent := o.View.Agent.ID; c.inFlight.TryAcquire(agent) {
		defer c.inFlight.Release(agent)
	} else {
		return a.recordRefusal(tooManyCallsRefusal())
	}
	if err := a.checkPolicy(ctx); err != nil {
		return a.recordRefusal(a.explainHeld(ctx, err))
	}
	if a.isMultiRound() {
		return c.resumeMultiRound(ctx, a.order, *a.resumed.MultiRound)
	}
	if a.needsApproval() {
		return a.runWithApproval(ctx)
	}
	a.mayLend = o.Lend
	return a.chargeAndSend(ctx)
}

func (a *attempt) chargeAndSend(ctx context.Context) (out Outcome, err error) {
	defer a.recoverPanic(&out, &err)
	if err := a.chargeQuota(); err != nil { // approval is decided by now
		return a.recordRefusal(err)
	}
	if err := a.consumeApproval(ctx); err != nil {
		return a.recordRefusal(err)
	}
	a.entry = a.o.History.Begin(a.order.View.Tenant, a.call)
	return a.sendAndFinish(ctx)
}

// recoverPanic turns a panic into the failure of the call that deferred it. The call is recorded, and its quota
// refunded if it was not sent.
func (a *attempt) recoverPanic(out *Outcome, err *error) {
	v := recover()
	if v == nil {
		return
	}
	panicErr := safe.Caught(safe.Call, v, slog.String("tool_call_id", a.call.ID.String()))
	*out, *err = Outcome{CallID: a.call.ID, Call: a.call}, panicErr
	defer safe.Recover(safe.Call) // finishCall may have panicked before
	if a.entry == nil {
		a.entry = a.o.History.Begin(a.order.View.Tenant, a.call)
	}
	*out, *err = a.finishCall(context.Background(), nil, panicErr)
}

func (a *attempt) newCallRecord() connectors.ToolCall {
	o, connector := a.order, &a.reach.Connector
	id := o.ID
	if id == (connectors.ToolCallID{}) {
		id = newCallID()
	}
	return connectors.ToolCall{
		ID: id, AgentID: &o.View.Agent.ID, AgentSlug: o.View.Agent.Slug, ConnectorID: &connector.ID, ConnectorSlug: connector.Slug,
		Kind: connectors.CallTool, Tool: o.Tool.Name, ExposedName: o.Tool.Exposed, Source: o.Source, Caller: o.Caller, CallOrigin: o.From,
		TokenID: o.Token, Definition: &o.Tool.Hash, Status: connectors.CallRunning, Arguments: o.Arguments, RequestBytes: int64(len(o.Arguments)),
		StartedAt: a.o.Now(),
	}
}

func newCallID() connectors.ToolCallID {
	return connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())} // fails only without a source of randomness
}

// checkAdmission refuses a call by agent, tool, arguments, state or limits. Approval is checked later.
func (a *attempt) checkAdmission(ctx context.Context) error {
	tool := a.order.Tool
	if !a.order.View.Agent.Enabled {
		return disabledRefusal()
	}
	if tool.Held != "" || !tool.Listed() {
		return heldRefusal(tool)
	}
	if err := a.validateArguments(ctx, tool); err != nil {
		return err
	}
	if err := a.openState(); err != nil {
		return err
	}
	return a.applyCallLimits()
}

// validateArguments checks the arguments against the input schema, until ctx ends.
func (a *attempt) validateArguments(ctx context.Context, tool *agentview.Tool) error {
	complete, err := tool.ValidateAll(ctx, a.order.Arguments, a.order.Read)
	if err == nil {
		if !complete {
			a.o.Log.WarnContext(ctx, "arguments too large to be checked in full", "tenant_id", a.order.View.Tenant.ID, "tool_call_id", a.call.ID,
				"agent_id", a.order.View.Agent.ID, "connector", tool.Reach.Connector.Slug, "tool", tool.Name, "bytes", len(a.order.Arguments))
		}
		return nil
	}
	if ctxRefusal := explainContext(ctx, tool.Reach.Connector); ctxRefusal != nil {
		return ctxRefusal
	}
	return &BadArguments{Sentence: err.Error()}
}

func disabledRefusal() *Refusal {
	return &Refusal{Code: CodeNotGranted, Sentence: "This agent is disabled. An admin enables it on the agent's page."}
}

func heldRefusal(t *agentview.Tool) *Refusal {
	connector := t.Reach.Connector.Name
	switch t.Held {
	case agentview.HeldNotGranted:
		return &Refusal{Code: CodeNotGranted, Sentence: fmt.Sprintf("This agent may not use the tool %q of %q. An admin grants it on the agent's page.", t.Name, connector)}
	case agentview.HeldReview:
		return &Refusal{Code: CodeHeld, Sentence: fmt.Sprintf("The tool %q of %q changed, and is held until an admin has looked at the change.", t.Name, connector)}
	case agentview.HeldNew:
		return &Refusal{Code: CodeHeld, Sentence: fmt.Sprintf("The tool %q of %q is new, and is held until an admin accepts it.", t.Name, connector)}
	case agentview.HeldRejected:
		return &Refusal{Code: CodeHeld, Sentence: fmt.Sprintf("The tool %q of %q was rejected by an admin.", t.Name, connector)}
	case agentview.HeldMalformed:
		return &Refusal{Code: CodeHeld, Sentence: fmt.Sprintf("The definition of the tool %q of %q is malformed: MCP clients refuse it. An admin finds the reason on the connector's page.", t.Name, connector)}
	case agentview.HeldDisabled:
		return &Refusal{Code: CodeHeld, Sentence: fmt.Sprintf("The tool %q of %q is switched off. An admin can switch it on.", t.Name, connector)}
	default:
		return &Refusal{Code: CodeHeld, Sentence: fmt.Sprintf("The server of %q does not offer the tool %q any more. List the tools again.", connector, t.Name)}
	}
}

func (a *attempt) sendAndFinish(ctx context.Context) (Outcome, error) {
	result, err := a.forwardCall(ctx)
	return a.finishCall(ctx, result, err)
}

func (a *attempt) finishCall(ctx context.Context, result *mcp.Result, err error) (Outcome, error) {
	out := Outcome{CallID: a.call.ID, Call: a.call}
	if err == nil {
		err = a.fillOutcome(ctx, result, &out)
	}
	if out.Task {
		return out, err // the call continues as a task
	}
	if !a.wasSent {
		a.refundQuota()
	}
	setOutcome := func(c *connectors.ToolCall) { a.setOutcome(c, result, err) }
	if hasReusedMemory(result) {
		out.Call, out.lent = a.entry.EndLent(setOutcome), result
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
	return result != nil && result.Lent() && len(result.Content)+len(result.Structured) <= connectors.MaxHistoryBytes
}

func (a *attempt) fillOutcome(ctx context.Context, result *mcp.Result, out *Outcome) (err error) {
	out.Raw, out.IsError = result.Raw, result.IsError
	switch {
	case result.InputRequired != nil:
		if err := checkInputRequest(result.Raw, a.order.Client, a.reach.Connector); err != nil {
			return err
		}
		out.InputRequired = true
		out.Raw, err = a.sealInputState(ctx, result)
	case result.Task != nil:
		out.Raw, err = a.sealTask(ctx, result.Task)
		out.Task = err == nil
	}
	return err
}

func (a *attempt) recordRefusal(err error) (Outcome, error) {
	a.entry = a.o.History.Begin(a.order.View.Tenant, a.call)
	return a.finishCall(context.Background(), nil, err)
}

func (a *attempt) addCallID(err error) error {
	if r, ok := err.(*Refusal); ok && r.CallID == (connectors.ToolCallID{}) { //nolint:errorlint // it is ours, and at the top
		r.CallID = a.call.ID
	}
	return err
}

// rawArguments are the call's arguments, always an object.
func (a *attempt) rawArguments() json.RawMessage {
	if len(a.order.Arguments) == 0 {
		return json.RawMessage("{}")
	}
	return a.order.Arguments
}
