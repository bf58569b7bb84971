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
}

// Approval shows a call that waits, or waited, for a person.
func (c *Caller) Approval(ctx context.Context, a auth.Actor, id connectors.ToolCallID) (Waiting, error) {
	if !a.Role.AtLeast(connectors.RoleMember) {
		row, err := c.o.Store.Tenant(a.Tenant.ID).Approval(ctx, id)
		return Waiting{Approval: row}, err
	}
	row, arguments, err := c.o.Store.Vault(a.Tenant.ID).ApprovalCall(ctx, id)
	return Waiting{Approval: row, Arguments: json.RawMessage(arguments.Reveal())}, err
}

// Inbox lists the calls that wait for a person, the newest first.
func (c *Caller) Inbox(ctx context.Context, a auth.Actor, p store.Page) (store.List[Waiting], error) {
	rows, err := c.o.Store.Tenant(a.Tenant.ID).WaitingApprovals(ctx, p)
	list := store.List[Waiting]{Items: make([]Waiting, 0, len(rows.Items)), Next: rows.Next}
	if err != nil {
		return list, err
	}
	for _, row := range rows.Items {
		waiting, err := c.Approval(ctx, a, row.ID)
		if err != nil {
			return list, err
		}
		list.Items = append(list.Items, waiting)
	}
	return list, nil
}
