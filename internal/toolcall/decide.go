package toolcall

import (
	"context"
	"encoding/json"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// maxAllowance is the longest time for which nobody is asked about a tool.
const maxAllowance = 24 * time.Hour

// Decision is what a person says of a call that waits.
type Decision struct {
	Approve bool
	Reason  string
	Allow   time.Duration // approve, and ask nobody about this tool of this agent for so long; 0: this call alone
}

// Decide approves or denies a call that waits, which a member may unless its agent is another member's own. A second decision is a Conflict. An
// approved call is made by the process in which somebody waits for it, else by this one; it has begun when Decide returns, or is left to a
// process that finds it later.
func (c *Caller) Decide(ctx context.Context, a auth.Actor, id connectors.ToolCallID, d Decision) (connectors.ToolCall, error) {
	if err := a.Require(connectors.PermOperate); err != nil {
		return connectors.ToolCall{}, err
	}
	if d.Allow < 0 || d.Allow > maxAllowance {
		return connectors.ToolCall{}, fault.InvalidFields(fault.Field{Location: "allow_for_s", Message: "A tool is allowed for 24 hours at most."})
	}
	door := c.o.Store.Tenant(a.Tenant.ID)
	var row connectors.Approval
	err := door.Tx(ctx, func(tx *store.Tenant) (err error) {
		if row, err = tx.DecideApproval(ctx, id, store.Verdict{Approve: d.Approve, By: a.Decider(), Reason: d.Reason}); err != nil {
			return err
		}
		if err = a.RequireDecide(ctx, tx, row.AgentID); err != nil {
			return err
		}
		return c.recordDecision(ctx, tx, a, row, d)
	})
	if err != nil {
		return connectors.ToolCall{}, err
	}
	c.waits.wake(id)
	if d.Approve {
		c.handOver(ctx, a.Tenant.ID, id)
	} else {
		c.tellEnded(ctx, a.Tenant.ID, id)
	}
	return c.Glance(ctx, a, id)
}

// recordDecision writes what a decision changes besides.
func (c *Caller) recordDecision(ctx context.Context, tx *store.Tenant, a auth.Actor, row connectors.Approval, d Decision) error {
	action, detail := "tool_call.approve", map[string]any{
		"tool_call_id": row.ID.String(), "agent_id": row.AgentID.String(), "connector_id": row.ConnectorID.String(), "tool": row.Tool,
	}
	switch {
	case !d.Approve:
		action, detail["reason"] = "tool_call.deny", d.Reason
		refusal := denied(row)
		_, err := tx.EndPendingCall(ctx, row.ID, store.CallEnd{
			Status: connectors.CallDenied, Outcome: connectors.OutcomeDenied, Code: string(CodeDenied), Message: refusal.Sentence,
		})
		if err != nil {
			return err
		}
	case d.Allow > 0:
		detail["allow_for_s"] = int(d.Allow.Seconds())
		allowed := connectors.Allowance{ConnectorID: row.ConnectorID, Tool: row.Tool, Definition: row.Definition, Until: c.o.Now().Add(d.Allow), GrantedBy: a.Decider()}
		if err := tx.AllowTool(ctx, row.AgentID, allowed); err != nil {
			return err
		}
	}
	event := a.Event(action, row.ExposedName)
	event.Detail = detail
	return tx.Record(ctx, event)
}

// handOver waits a moment until somebody who waits for an approved call has taken it up, and else makes it here.
func (c *Caller) handOver(ctx context.Context, t connectors.TenantID, id connectors.ToolCallID) {
	woken, leave := c.waits.join(id)
	defer leave()
	patience := time.NewTimer(claimPatience)
	defer patience.Stop()
	for {
		row, err := c.o.Store.Tenant(t).Approval(ctx, id)
		if err != nil || row.State != connectors.ApprovalApproved {
			return
		}
		select {
		case <-woken:
		case <-patience.C:
			c.makeBesides(ctx, t, row)
			return
		case <-ctx.Done():
			return // the sweeper finds it
		}
	}
}

// makeBesides makes an approved call that nobody waits for. It returns when the call is claimed.
func (c *Caller) makeBesides(ctx context.Context, t connectors.TenantID, row connectors.Approval) {
	here, err := c.enter(context.WithoutCancel(ctx), row.ID)
	if err != nil {
		return
	}
	begun := false
	defer func() {
		if !begun { // also where what follows panics
			here.leave()
		}
	}()
	claimed, err := c.claim(ctx, t, row)
	if err != nil || !claimed {
		c.logUnsaved(ctx, err)
		return
	}
	begun = true
	safe.Go(safe.Call, func() { // Stop waits until it has left
		defer here.leave()
		c.makeFor(here, t, row)
	})
}

// makeFor makes an approved call with what is stored of it.
func (c *Caller) makeFor(ctx context.Context, t connectors.TenantID, row connectors.Approval) {
	a := &attempt{Caller: c, entered: row.ID}
	err := safe.Try(safe.Call, func() error { return a.restore(ctx, t, row) })()
	if err == nil {
		_, _ = a.makeApproved(ctx, row) // it is kept, and on record
		return
	}
	refusal := &Refusal{Code: CodeNotGranted, Sentence: "This agent may not use the tool any more.", CallID: row.ID, Err: err}
	if !fault.Is(err, fault.NotFound) {
		refusal.Code, refusal.Sentence = CodeUnavailable, "The call could not be made. Make it again."
	}
	a.fail(ctx, t, row, refusal)
}

// restore makes the order of a call anew.
func (a *attempt) restore(ctx context.Context, t connectors.TenantID, row connectors.Approval) error {
	_, arguments, err := a.o.Store.Vault(t).ApprovalCall(ctx, row.ID)
	if err != nil {
		return err
	}
	view, err := a.o.Access.ByAgent(ctx, t, connectors.Ref(row.AgentID.String()))
	if err != nil {
		return err
	}
	tool := findTool(view, row)
	if tool == nil {
		return fault.Errorf(fault.NotFound, "There is no such tool.")
	}
	a.order = &Order{View: view, Tool: tool, Arguments: json.RawMessage(arguments.Reveal()), Impatient: true}
	a.order.Wait = &store.WaitBudget{Tenant: t, Bytes: len(a.order.Arguments)}
	a.reach = tool.Reach
	return nil
}

// fail puts on record that a claimed call could not be made.
func (a *attempt) fail(ctx context.Context, t connectors.TenantID, row connectors.Approval, refusal *Refusal) {
	call, err := a.o.Store.Tenant(t).ToolCall(ctx, row.ID)
	if err != nil {
		call = connectors.ToolCall{ID: row.ID, StartedAt: row.AskedAt, AgentID: &row.AgentID, ConnectorID: &row.ConnectorID, Tool: row.Tool,
			ExposedName: row.ExposedName, Kind: connectors.CallTool, Source: connectors.SourceGateway}
	}
	call.Status, call.ApprovedBy = connectors.CallRunning, row.DecidedBy
	entry := a.o.History.Begin(connectors.Tenant{ID: t, CallHistory: connectors.HistoryNone}, call)
	ended := entry.End(func(c *connectors.ToolCall) { a.settle(c, nil, refusal) })
	if a.o.Ended != nil {
		a.o.Ended(ended)
	}
	a.keepResult(ctx, t, row.ID, Outcome{}, refusal)
}
