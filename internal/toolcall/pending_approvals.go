package toolcall

import (
	"context"
	"encoding/json"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// PendingApproval is a call that waits for approval, as the approver sees it.
type PendingApproval struct {
	connectors.Approval
	Arguments json.RawMessage // complete, whatever the history stores; nil: the reader may not decide
	Withheld  bool            // decided, and its arguments are for auditors only
	Refusal   error           // why the reader may not decide; nil: they may
}

// Approval returns a call that waits, or waited, for approval. Readers who may decide it see its arguments,
// even if these are for auditors only. After the decision the history's rules apply.
func (c *Executor) Approval(ctx context.Context, a auth.Actor, id connectors.ToolCallID) (PendingApproval, error) {
	tenant := c.o.Store.Tenant(a.Tenant.ID)
	row, err := tenant.Calls().Approval(ctx, id)
	if err != nil {
		return PendingApproval{}, err
	}
	refusals, err := a.DecideRefusals(ctx, tenant.Accounts(), row.AgentID)
	if err != nil || refusals[row.AgentID] != nil {
		return PendingApproval{Approval: row, Refusal: refusals[row.AgentID]}, err
	}
	row, arguments, err := c.o.Store.Vault(a.Tenant.ID).ApprovalCall(ctx, id)
	if open := row.State == connectors.ApprovalWaiting && row.ExpiresAt.After(c.o.Now()); !open && a.Tenant.WithholdsBodies() {
		return PendingApproval{Approval: row, Withheld: true}, err
	}
	return PendingApproval{Approval: row, Arguments: json.RawMessage(arguments.Reveal())}, err
}

// ListPendingApprovals lists the calls that wait for approval, newest first, with at most two queries.
func (c *Executor) ListPendingApprovals(ctx context.Context, a auth.Actor, p store.Page) (store.List[PendingApproval], error) {
	calls, err := c.o.Store.Vault(a.Tenant.ID).WaitingCalls(ctx, p)
	if err != nil {
		return store.List[PendingApproval]{}, err
	}
	agents := make([]connectors.AgentID, len(calls.Items))
	for i, call := range calls.Items {
		agents[i] = call.Approval.AgentID
	}
	refusals, err := a.DecideRefusals(ctx, c.o.Store.Tenant(a.Tenant.ID).Accounts(), agents...)
	list := store.List[PendingApproval]{Items: make([]PendingApproval, len(calls.Items)), Next: calls.Next}
	for i, call := range calls.Items {
		list.Items[i] = PendingApproval{Approval: call.Approval, Refusal: refusals[call.Approval.AgentID]}
		if list.Items[i].Refusal == nil {
			list.Items[i].Arguments = json.RawMessage(call.Call.Reveal())
		}
	}
	return list, err
}
