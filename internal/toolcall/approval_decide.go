package toolcall

import (
	"context"
	"encoding/json"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// maxAllowance bounds how long a tool, a prompt or a resource may skip approval.
const maxAllowance = 24 * time.Hour

// Decision approves or denies a waiting call.
type Decision struct {
	Approve  bool
	Reason   string
	AllowFor time.Duration // with Approve: the agent's uses of this tool, prompt or resource skip approval for so long; 0: only this one
}

// Decide approves or denies a waiting call. A member may decide, unless the agent is another member's own. A
// second decision is a Conflict. An approved call runs in the process with a waiting request, else in this one.
// A process that fails to start it leaves it to a sweep.
func (c *Executor) Decide(ctx context.Context, a auth.Actor, id connectors.ToolCallID, d Decision) (connectors.ToolCall, error) {
	if err := c.approvals.storeDecision(ctx, a, id, d); err != nil {
		return connectors.ToolCall{}, err
	}
	if !d.Approve {
		c.recorder.reportEnded(ctx, a.Tenant.ID, id)
	} else if row, left := c.approvals.waitForClaim(ctx, a.Tenant.ID, id); left && row.Kind == connectors.CallTool {
		c.runDetached(ctx, a.Tenant.ID, row)
	}
	return c.ReadSummary(ctx, a, id)
}

// storeDecision stores a decision and its audit event, and wakes the waiting requests.
func (ap *approvals) storeDecision(ctx context.Context, a auth.Actor, id connectors.ToolCallID, d Decision) error {
	if err := a.Require(connectors.PermOperate); err != nil {
		return err
	}
	if d.AllowFor < 0 || d.AllowFor > maxAllowance {
		return fault.InvalidFields(fault.Field{Location: "allow_for_s", Message: "A standing approval lasts at most 24 hours."})
	}
	err := ap.o.Store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		if d.AllowFor > 0 { // what replaces an account has this lock, and then ends what is allowed with it
			if _, err := tx.LockAndReadState(ctx, store.OfTenant()); err != nil {
				return err
			}
		}
		row, err := tx.Calls().DecideApproval(ctx, id, store.ApprovalDecision{Approve: d.Approve, By: a.Decider(), Reason: d.Reason})
		if err != nil {
			return err
		}
		if err = a.RequireDecide(ctx, tx, row.AgentID); err != nil {
			return err
		}
		if err = ap.recordDecision(ctx, tx, a, row, d); err != nil {
			return err
		}
		return ap.announceDecision(ctx, tx, a.Tenant.ID, id, d)
	})
	if err == nil {
		ap.waiters.wake(id)
	}
	return err
}

// announceDecision tells the client of a task what was decided, in the transaction of the decision: the end of the call is
// announced after it.
func (ap *approvals) announceDecision(ctx context.Context, tx *store.Tenant, t connectors.TenantID, id connectors.ToolCallID, d Decision) error {
	return ap.announcer.announceByID(ctx, tx, t, id, func(task *handshakeTask) {
		task.Status, task.Message, task.UpdatedAt = taskWorking, "Approved, running", ap.o.Now().UTC()
		if !d.Approve {
			task.Status, task.Message = taskFailed, "Denied"
		}
	})
}

// recordDecision writes the audit event, and the denied call or the allowance.
func (ap *approvals) recordDecision(ctx context.Context, tx *store.Tenant, a auth.Actor, row connectors.Approval, d Decision) error {
	action, detail := "tool_call.approve", map[string]any{
		"tool_call_id": row.ID.String(), "agent_id": row.AgentID.String(), "connector_id": row.ConnectorID.String(), "tool": row.Tool,
		"kind": string(row.Kind),
	}
	switch {
	case !d.Approve:
		action, detail["reason"] = "tool_call.deny", d.Reason
		refusal := deniedRefusal(row)
		_, err := tx.Calls().EndPendingCall(ctx, row.ID, store.CallEnd{
			Status: connectors.CallDenied, Outcome: connectors.OutcomeDenied, Code: string(CodeDenied), Message: refusal.Sentence,
		})
		if err != nil {
			return err
		}
	case d.AllowFor > 0:
		detail["allow_for_s"] = int(d.AllowFor.Seconds())
		if err := ap.addAllowance(ctx, tx, a, row, d.AllowFor); err != nil {
			return err
		}
	}
	event := a.Event(action, row.ExposedName)
	event.Detail = detail
	return tx.Audit().Record(ctx, event)
}

// addAllowance lets the agent use what was approved without approval for a time.
func (ap *approvals) addAllowance(ctx context.Context, tx *store.Tenant, a auth.Actor, row connectors.Approval, period time.Duration) error {
	if !row.CanAllow() {
		return fault.InvalidFields(fault.Field{Location: "allow_for_s", Message: "This name or URI is too long for a standing approval. Approve only this request."})
	}
	err := tx.Calls().AddAllowance(ctx, row.AgentID, connectors.Allowance{
		AllowanceKey: connectors.AllowanceKey{ConnectorID: row.ConnectorID, Kind: row.Kind, Tool: row.Tool},
		Definition:   row.Definition, Until: ap.o.Now().Add(period), GrantedBy: a.Decider(), Account: row.Account,
	})
	switch {
	case !fault.Is(err, fault.NotFound):
		return err
	case row.Kind == connectors.CallTool:
		return fault.Errorf(fault.Conflict, "The agent no longer has access to this tool. Deny the call, or grant access first.")
	default:
		return fault.Errorf(fault.Conflict, "The agent no longer has access to this. Deny the request, or grant access first.")
	}
}

// waitForClaim gives processes with a waiting request claimTimeout to claim the call. left: none has, so that it runs
// here.
func (ap *approvals) waitForClaim(ctx context.Context, t connectors.TenantID, id connectors.ToolCallID) (row connectors.Approval, left bool) {
	woken, unsubscribe := ap.waiters.subscribe(id)
	defer unsubscribe()
	timeout := time.NewTimer(claimTimeout)
	defer timeout.Stop()
	for {
		row, err := ap.o.Store.Tenant(t).Calls().Approval(ctx, id)
		if err != nil || row.State != connectors.ApprovalApproved {
			return row, false
		}
		select {
		case <-woken:
		case <-timeout.C:
			return row, true
		case <-ctx.Done():
			return row, false // the sweep finds it
		}
	}
}

// restoreOrder makes the order of an approved call that has no request.
func (ap *approvals) restoreOrder(ctx context.Context, a *activeCall, t connectors.TenantID, row connectors.Approval) error {
	_, arguments, err := ap.o.Store.Vault(t).ApprovalCall(ctx, row.ID)
	if err != nil {
		return err
	}
	view, err := ap.o.Access.ByAgent(ctx, t, connectors.Ref(row.AgentID.String()))
	if err != nil {
		return err
	}
	tool := findTool(view, row)
	if tool == nil {
		return fault.Errorf(fault.NotFound, "No such tool.")
	}
	a.request = &CallRequest{View: view, Tool: tool, Arguments: json.RawMessage(arguments.Reveal()), NoWait: true, Client: Client{Caller: row.Caller}}
	a.request.Wait = &store.WaitBudget{Tenant: t, Bytes: len(a.request.Arguments)}
	a.connector = tool.Connector
	return nil
}

// recordFailure records an approved call that could not be restored.
func (ap *approvals) recordFailure(ctx context.Context, a *activeCall, t connectors.TenantID, row connectors.Approval, cause error) {
	refusal := lostApprovalRefusal(row)
	refusal.CallID, refusal.Err = row.ID, cause
	if !fault.Is(cause, fault.NotFound) {
		refusal.Code, refusal.Sentence, refusal.Ask = CodeUnavailable, "The call couldn't be sent. Repeat it.", nil
	}
	call, err := ap.o.Store.Tenant(t).Calls().Get(ctx, row.ID)
	if err != nil {
		call = connectors.ToolCall{ID: row.ID, StartedAt: row.AskedAt, AgentID: &row.AgentID, ConnectorID: &row.ConnectorID, Tool: row.Tool,
			ExposedName: row.ExposedName, Kind: connectors.CallTool, Source: connectors.SourceGateway}
	}
	call.Status, call.ApprovedBy = connectors.CallRunning, row.DecidedBy
	entry := ap.o.History.Begin(connectors.Tenant{ID: t, CallHistory: connectors.HistoryNone}, call)
	record := entry.End(func(c *connectors.ToolCall) { ap.recorder.setOutcome(a, c, nil, refusal) })
	if ap.o.OnEnd != nil {
		ap.o.OnEnd(record)
	}
	ap.saveResultWithRetry(ctx, a, t, row.ID, Outcome{}, refusal)
}
