package toolcall

import (
	"context"
	"encoding/json"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// Waiting is a call that waits for a person, with what the person should see.
type Waiting struct {
	connectors.Approval
	Arguments json.RawMessage // all of them, whatever the history keeps; nil: the reader may not decide
	Withheld  bool            // it is decided, and its arguments are for auditors alone
	Refusal   error           // why the reader may not decide; nil: they may
}

// Approval shows a call that waits, or waited, for a person. Whoever may decide it sees its arguments, also where these are for auditors alone:
// nobody can answer for what they agree to unseen. Once nothing is to be decided any more, it is a call like others.
func (c *Caller) Approval(ctx context.Context, a auth.Actor, id connectors.ToolCallID) (Waiting, error) {
	door := c.o.Store.Tenant(a.Tenant.ID)
	row, err := door.Approval(ctx, id)
	if err != nil {
		return Waiting{}, err
	}
	refusals, err := a.NotDeciding(ctx, door, row.AgentID)
	if err != nil || refusals[row.AgentID] != nil {
		return Waiting{Approval: row, Refusal: refusals[row.AgentID]}, err
	}
	row, arguments, err := c.o.Store.Vault(a.Tenant.ID).ApprovalCall(ctx, id)
	if waits := row.State == connectors.ApprovalWaiting && row.ExpiresAt.After(c.o.Now()); !waits && a.Tenant.WithholdsBodies() {
		return Waiting{Approval: row, Withheld: true}, err
	}
	return Waiting{Approval: row, Arguments: json.RawMessage(arguments.Reveal())}, err
}

// Inbox lists the calls that wait for a person, the newest first, in two queries at most.
func (c *Caller) Inbox(ctx context.Context, a auth.Actor, p store.Page) (store.List[Waiting], error) {
	calls, err := c.o.Store.Vault(a.Tenant.ID).WaitingCalls(ctx, p)
	if err != nil {
		return store.List[Waiting]{}, err
	}
	agents := make([]connectors.AgentID, len(calls.Items))
	for i, call := range calls.Items {
		agents[i] = call.Approval.AgentID
	}
	refusals, err := a.NotDeciding(ctx, c.o.Store.Tenant(a.Tenant.ID), agents...)
	list := store.List[Waiting]{Items: make([]Waiting, len(calls.Items)), Next: calls.Next}
	for i, call := range calls.Items {
		list.Items[i] = Waiting{Approval: call.Approval, Refusal: refusals[call.Approval.AgentID]}
		if list.Items[i].Refusal == nil {
			list.Items[i].Arguments = json.RawMessage(call.Call.Reveal())
		}
	}
	return list, err
}
