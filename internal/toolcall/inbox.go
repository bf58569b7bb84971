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
}

// Approval shows a call that waits, or waited, for a person. Whoever may decide it sees its arguments, also where these are for auditors alone:
// nobody can answer for what they agree to unseen. Once nothing is to be decided any more, it is a call like others.
func (c *Caller) Approval(ctx context.Context, a auth.Actor, id connectors.ToolCallID) (Waiting, error) {
	if !a.Role.May(connectors.PermOperate) {
		row, err := c.o.Store.Tenant(a.Tenant.ID).Approval(ctx, id)
		return Waiting{Approval: row}, err
	}
	row, arguments, err := c.o.Store.Vault(a.Tenant.ID).ApprovalCall(ctx, id)
	if waits := row.State == connectors.ApprovalWaiting && row.ExpiresAt.After(c.o.Now()); !waits && a.Tenant.WithholdsBodies() {
		return Waiting{Approval: row, Withheld: true}, err
	}
	return Waiting{Approval: row, Arguments: json.RawMessage(arguments.Reveal())}, err
}

// Inbox lists the calls that wait for a person, the newest first, in one query.
func (c *Caller) Inbox(ctx context.Context, a auth.Actor, p store.Page) (store.List[Waiting], error) {
	calls, err := c.o.Store.Vault(a.Tenant.ID).WaitingCalls(ctx, p)
	list := store.List[Waiting]{Items: make([]Waiting, len(calls.Items)), Next: calls.Next}
	for i, call := range calls.Items {
		list.Items[i].Approval = call.Approval
		if a.Role.May(connectors.PermOperate) {
			list.Items[i].Arguments = json.RawMessage(call.Call.Reveal())
		}
	}
	return list, err
}
