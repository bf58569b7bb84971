package toolcall

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// Read is one call, for somebody to read. Where the tenant keeps arguments and results for its auditors, an auditor gets them, which is put on
// record in the same transaction: what is not on record is not read. Everybody else gets the call without them.
func (c *Caller) Read(ctx context.Context, a auth.Actor, id connectors.ToolCallID) (connectors.ToolCall, error) {
	if !a.Tenant.WithholdsBodies() || !a.Role.May(connectors.PermBodies) {
		return c.Glance(ctx, a, id)
	}
	var call connectors.ToolCall
	err := c.o.Store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) (err error) {
		if call, err = tx.ToolCall(ctx, id); err != nil || !call.HasBodies() {
			return err
		}
		shown := call.WithoutBodies() // admins read the audit log
		event := a.Event("tool_call.read", shown.ExposedName)
		event.Detail = map[string]any{"tool_call_id": call.ID.String(), "tool": shown.Tool}
		return tx.Record(ctx, event)
	})
	if err != nil {
		return connectors.ToolCall{}, err
	}
	return call, nil
}

// Glance is one call as whoever sees it may look at it without being put on record: where arguments and results are for auditors, without them.
func (c *Caller) Glance(ctx context.Context, a auth.Actor, id connectors.ToolCallID) (connectors.ToolCall, error) {
	call, err := c.o.Store.Tenant(a.Tenant.ID).ToolCall(ctx, id)
	return glanced(a, call), err
}

// Calls lists calls, the newest first. Where arguments and results are for auditors, nobody's list has them: each call is read by itself.
func (c *Caller) Calls(ctx context.Context, a auth.Actor, f store.CallFilter) (store.List[connectors.ToolCall], error) {
	list, err := c.o.Store.Tenant(a.Tenant.ID).ToolCalls(ctx, f)
	return glancedAll(a, list), err
}

// Tasks lists the calls that their servers run as tasks, as Calls does.
func (c *Caller) Tasks(ctx context.Context, a auth.Actor, f store.CallFilter) (store.List[connectors.ToolCall], error) {
	list, err := c.o.Store.Tenant(a.Tenant.ID).TaskCalls(ctx, f)
	return glancedAll(a, list), err
}

func glanced(a auth.Actor, call connectors.ToolCall) connectors.ToolCall {
	if a.Tenant.WithholdsBodies() {
		return call.WithoutBodies()
	}
	return call
}

func glancedAll(a auth.Actor, list store.List[connectors.ToolCall]) store.List[connectors.ToolCall] {
	for i, call := range list.Items {
		list.Items[i] = glanced(a, call)
	}
	return list
}
