package toolcall

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/google/uuid"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/history"
	"patchbay/internal/mcp"
	"patchbay/internal/safe"
)

// attempt is one call on its way.
type attempt struct {
	*Caller
	order *Order
	reach *access.Reach
	call  connectors.ToolCall // as it begins
	entry *history.Entry      // nil: it is not on record yet
	sent  *credentials.Usable // what went out last; nil: nothing did

	counted counted // under quotas
	tried   bool    // the server was asked: whether it heard of it is not known

	judged   judged
	approved *connectors.Approval // that this process has claimed; nil: none

	went    *state // Order.Input goes on with this; nil: the call begins
	entered connectors.ToolCallID
	fetches bool // somebody gets the result of an approved call
	lends   bool // the outcome's memory may be lent
}

// Call makes a tool call. The errors that a client is told of are *Refusal, *BadArguments, and *mcp.Error with the RPC error of the
// server.
func (c *Caller) Call(ctx context.Context, o Order) (Outcome, error) {
	if out, done, err := c.comeBack(ctx, &o); done {
		return out, err
	}
	out, err := c.call(ctx, &o)
	return c.askAccount(ctx, &o, out, err)
}

func (c *Caller) call(ctx context.Context, o *Order) (Outcome, error) {
	if o.Input == nil && isTalk(o) {
		return c.converse(ctx, *o)
	}
	return c.callNow(ctx, o)
}

// callNow leaves the order as it is.
func (c *Caller) callNow(ctx context.Context, o *Order) (Outcome, error) {
	a := &attempt{Caller: c, order: o, reach: o.Tool.Reach, fetches: !o.Impatient}
	a.call, a.judged.spent = a.beginning(), o.Wait.Spent()
	a.entered = a.call.ID
	here, err := c.enter(ctx, a.call.ID)
	if err != nil {
		return Outcome{}, err
	}
	defer here.leave()
	ctx = here
	if agent := o.View.Agent.ID; c.underWay.enter(agent, mostUnderWay) {
		defer c.underWay.leave(agent)
	} else {
		return a.refuse(tooMany())
	}
	if err := a.permitted(ctx); err != nil {
		return a.refuse(a.because(ctx, err))
	}
	if a.talks() {
		return c.goOn(ctx, a.order, *a.went.Talk)
	}
	if a.asks() {
		return a.askFirst(ctx)
	}
	a.lends = o.Lend
	return a.makeNow(ctx)
}

// makeNow counts a call, and makes it.
func (a *attempt) makeNow(ctx context.Context) (out Outcome, err error) {
	defer a.recovered(&out, &err)
	if err := a.countOnce(); err != nil { // by now nobody is asked any more
		return a.refuse(err)
	}
	if err := a.useApproval(ctx); err != nil {
		return a.refuse(err)
	}
	a.entry = a.o.History.Begin(a.order.View.Tenant, a.call)
	return a.make(ctx)
}

// recovered makes a panic the failure of the call that deferred it. The call ends on record, and what it was counted under is given back
// where it was not sent.
func (a *attempt) recovered(out *Outcome, err *error) {
	v := recover()
	if v == nil {
		return
	}
	caught := safe.Caught(safe.Call, v, slog.String("tool_call_id", a.call.ID.String()))
	*out, *err = Outcome{CallID: a.call.ID, Call: a.call}, caught
	defer safe.Recover(safe.Call) // of finish: it has panicked before, perhaps
	if a.entry == nil {
		a.entry = a.o.History.Begin(a.order.View.Tenant, a.call)
	}
	*out, *err = a.finish(context.Background(), nil, caught)
}

// beginning is the call as the history has it first.
func (a *attempt) beginning() connectors.ToolCall {
	o, to := a.order, &a.reach.Connector
	id := o.ID
	if id == (connectors.ToolCallID{}) {
		id = newCallID()
	}
	return connectors.ToolCall{
		ID: id, AgentID: &o.View.Agent.ID, AgentSlug: o.View.Agent.Slug, ConnectorID: &to.ID, ConnectorSlug: to.Slug,
		Kind: connectors.CallTool, Tool: o.Tool.Name, ExposedName: o.Tool.Exposed, Source: o.Source, Caller: o.Caller, CallOrigin: o.From,
		TokenID: o.Token, Definition: &o.Tool.Hash, Status: connectors.CallRunning, Arguments: o.Arguments, RequestBytes: int64(len(o.Arguments)),
		StartedAt: a.o.Now(),
	}
}

func newCallID() connectors.ToolCallID {
	return connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())} // fails only where the machine has no randomness
}

// admit tells why a call is not made; nil: nothing stands against it but, perhaps, that a person has to agree.
func (a *attempt) admit(ctx context.Context) error {
	tool := a.order.Tool
	if !a.order.View.Agent.Enabled {
		return disabled()
	}
	if tool.Held != "" || !tool.Listed() {
		return held(tool)
	}
	if err := a.fits(ctx, tool); err != nil {
		return err
	}
	if err := a.goesOn(); err != nil {
		return err
	}
	return a.pace()
}

// fits reports whether the arguments are what a tool takes. The check ends with the context.
func (a *attempt) fits(ctx context.Context, tool *access.Tool) error {
	all, err := tool.ValidateAll(ctx, a.order.Arguments, a.order.Read)
	if err == nil {
		if !all {
			a.o.Log.WarnContext(ctx, "arguments too large to be checked in full", "tenant_id", a.order.View.Tenant.ID, "tool_call_id", a.call.ID,
				"agent_id", a.order.View.Agent.ID, "connector", tool.Reach.Connector.Slug, "tool", tool.Name, "bytes", len(a.order.Arguments))
		}
		return nil
	}
	if gone := ended(ctx, tool.Reach.Connector); gone != nil {
		return gone
	}
	return &BadArguments{Sentence: err.Error()}
}

// disabled is the refusal of an agent that may call nothing, whoever calls for it.
func disabled() *Refusal {
	return &Refusal{Code: CodeNotGranted, Sentence: "This agent is disabled. An admin enables it on the agent's page."}
}

// held is the refusal of a tool that is not served.
func held(t *access.Tool) *Refusal {
	connector := t.Reach.Connector.Name
	switch t.Held {
	case access.HeldNotGranted:
		return &Refusal{Code: CodeNotGranted, Sentence: fmt.Sprintf("This agent may not use the tool %q of %q. An admin grants it on the agent's page.", t.Name, connector)}
	case access.HeldReview:
		return &Refusal{Code: CodeHeld, Sentence: fmt.Sprintf("The tool %q of %q changed, and is held until an admin has looked at the change.", t.Name, connector)}
	case access.HeldNew:
		return &Refusal{Code: CodeHeld, Sentence: fmt.Sprintf("The tool %q of %q is new, and is held until an admin accepts it.", t.Name, connector)}
	case access.HeldRejected:
		return &Refusal{Code: CodeHeld, Sentence: fmt.Sprintf("The tool %q of %q was rejected by an admin.", t.Name, connector)}
	case access.HeldMalformed:
		return &Refusal{Code: CodeHeld, Sentence: fmt.Sprintf("The definition of the tool %q of %q is malformed: MCP clients refuse it. An admin finds the reason on the connector's page.", t.Name, connector)}
	case access.HeldDisabled:
		return &Refusal{Code: CodeHeld, Sentence: fmt.Sprintf("The tool %q of %q is switched off. An admin can switch it on.", t.Name, connector)}
	default:
		return &Refusal{Code: CodeHeld, Sentence: fmt.Sprintf("The server of %q does not offer the tool %q any more. List the tools again.", connector, t.Name)}
	}
}

// make sends the call, which is on record, and notes what came of it.
func (a *attempt) make(ctx context.Context) (Outcome, error) {
	result, err := a.forward(ctx)
	return a.finish(ctx, result, err)
}

// finish notes the end of a call that was begun.
func (a *attempt) finish(ctx context.Context, result *mcp.Result, err error) (Outcome, error) {
	out := Outcome{CallID: a.call.ID, Call: a.call}
	if err == nil {
		err = a.handOut(ctx, result, &out)
	}
	if out.Task {
		return out, err // it goes on
	}
	if !a.tried {
		a.giveBack()
	}
	settle := func(c *connectors.ToolCall) { a.settle(c, result, err) }
	if comesBack(result) {
		out.Call, out.lent = a.entry.EndLent(settle), result
	} else {
		out.Call = a.entry.End(settle)
	}
	if a.o.Ended != nil {
		a.o.Ended(out.Call)
	}
	return out, a.named(err)
}

// comesBack tells whether a result's memory is used again. The history has its own copy then, as far as it keeps the result, and makes it
// while others wait: one that is longer than what is kept is left to the history as it is.
func comesBack(result *mcp.Result) bool {
	return result != nil && result.Lent() && len(result.Content)+len(result.Structured) <= connectors.MaxHistoryBytes
}

// handOut is what the client gets of a result.
func (a *attempt) handOut(ctx context.Context, result *mcp.Result, out *Outcome) (err error) {
	out.Raw, out.IsError = result.Raw, result.IsError
	switch {
	case result.InputRequired != nil:
		if err := askable(result.Raw, a.order.Client, a.reach.Connector); err != nil {
			return err
		}
		out.InputRequired = true
		out.Raw, err = a.handOutState(ctx, result)
	case result.Task != nil:
		out.Raw, err = a.handOutTask(ctx, result.Task)
		out.Task = err == nil
	}
	return err
}

// refuse puts on record a call that was not made.
func (a *attempt) refuse(err error) (Outcome, error) {
	a.entry = a.o.History.Begin(a.order.View.Tenant, a.call)
	return a.finish(context.Background(), nil, err)
}

// named gives a refusal the id of its call.
func (a *attempt) named(err error) error {
	if r, ok := err.(*Refusal); ok && r.CallID == (connectors.ToolCallID{}) { //nolint:errorlint // it is ours, and at the top
		r.CallID = a.call.ID
	}
	return err
}

// arguments are the call's, an object in any case.
func (a *attempt) arguments() json.RawMessage {
	if len(a.order.Arguments) == 0 {
		return json.RawMessage("{}")
	}
	return a.order.Arguments
}
