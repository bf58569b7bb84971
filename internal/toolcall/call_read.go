package toolcall

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// Read returns one call. If the tenant keeps bodies for auditors, an auditor gets them, with an audit event in
// the same transaction. Other readers get the call without bodies.
func (c *Executor) Read(ctx context.Context, a auth.Actor, id connectors.ToolCallID) (connectors.ToolCall, error) {
	if !a.Tenant.WithholdsBodies() || !a.Role.May(connectors.PermBodies) {
		return c.ReadSummary(ctx, a, id)
	}
	var call connectors.ToolCall
	err := c.o.Store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) (err error) {
		if call, err = tx.Calls().Get(ctx, id); err != nil {
			return err
		}
		if err := a.HideAccountNames(ctx, tx.Accounts(), &call.Account); err != nil || !call.HasBodies() {
			return err
		}
		shown := call.WithoutBodies() // admins read the audit log
		event := a.Event("tool_call.read", shown.ExposedName)
		event.Detail = map[string]any{"tool_call_id": call.ID.String(), "tool": shown.Tool}
		return tx.Audit().Record(ctx, event)
	})
	if err != nil {
		return connectors.ToolCall{}, err
	}
	return call, nil
}

// ReadSummary returns one call without an audit event, and without bodies if these are for auditors.
func (c *Executor) ReadSummary(ctx context.Context, a auth.Actor, id connectors.ToolCallID) (connectors.ToolCall, error) {
	var call connectors.ToolCall
	err := c.o.Store.Tenant(a.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if call, err = tx.Calls().Get(ctx, id); err != nil {
			return err
		}
		return a.HideAccountNames(ctx, tx.Accounts(), &call.Account)
	})
	return hideBodies(a, call), err
}

// CallsIn lists calls, newest first, within a snapshot of the actor's tenant. If bodies are for auditors, the list
// has none, for auditors too.
func (c *Executor) CallsIn(ctx context.Context, snapshot *store.Tenant, a auth.Actor, f store.CallFilter) (store.List[connectors.ToolCall], error) {
	list, err := snapshot.Calls().List(ctx, f)
	return hideAllBodies(a, list), err
}

// TasksIn lists calls that run as tasks, as CallsIn does.
func (c *Executor) TasksIn(ctx context.Context, snapshot *store.Tenant, a auth.Actor, f store.CallFilter) (store.List[connectors.ToolCall], error) {
	list, err := snapshot.Calls().TaskCalls(ctx, f)
	return hideAllBodies(a, list), err
}

func hideBodies(a auth.Actor, call connectors.ToolCall) connectors.ToolCall {
	if a.Tenant.WithholdsBodies() {
		return call.WithoutBodies()
	}
	return call
}

func hideAllBodies(a auth.Actor, list store.List[connectors.ToolCall]) store.List[connectors.ToolCall] {
	for i, call := range list.Items {
		list.Items[i] = hideBodies(a, call)
	}
	return list
}
