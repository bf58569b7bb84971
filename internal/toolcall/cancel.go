package toolcall

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

const (
	cancelBox  = "cancel-" // and the call's id: mail for the process that makes it
	cancelLife = time.Minute
	cancelWait = 2 * time.Second // until a cancelled call has ended
)

// Cancel ends a call that waits or runs, in whatever process; a member may. It is a Conflict where the call has ended. That somebody cancels it
// is on record before anything else hears of it.
func (c *Caller) Cancel(ctx context.Context, a auth.Actor, id connectors.ToolCallID) (connectors.ToolCall, error) {
	if err := a.Require(connectors.PermOperate); err != nil {
		return connectors.ToolCall{}, err
	}
	door := c.o.Store.Tenant(a.Tenant.ID)
	call, err := door.ToolCall(ctx, id)
	if err != nil {
		return call, err
	}
	switch {
	case call.Status.Ended():
		err = fault.Errorf(fault.Conflict, "This call has ended already.")
	case call.Status == connectors.CallPendingApproval:
		err = c.cancelWaiting(ctx, a, call)
	case call.InstanceID == nil && call.Task != nil:
		err = c.cancelTask(ctx, a, call)
	default:
		err = c.cancelRunning(ctx, a, call)
	}
	if err != nil {
		return call, err
	}
	return c.Glance(ctx, a, id)
}

func cancelEvent(a auth.Actor, call connectors.ToolCall) store.Event {
	event := a.Event("tool_call.cancel", call.ExposedName)
	event.Detail = map[string]any{"tool_call_id": call.ID.String(), "tool": call.Tool}
	return event
}

func (c *Caller) cancelWaiting(ctx context.Context, a auth.Actor, call connectors.ToolCall) error {
	waited, err := c.withdraw(ctx, a.Tenant.ID, call.ID, "A person cancelled this call.", cancelEvent(a, call))
	if err == nil && !waited {
		err = fault.Errorf(fault.Conflict, "This call was decided at this moment. Look at it again.")
	}
	c.waits.wake(call.ID)
	return err
}

// cancelRunning ends a call here, or has the process do it that makes it.
func (c *Caller) cancelRunning(ctx context.Context, a auth.Actor, call connectors.ToolCall) error {
	ctx, cancel := context.WithTimeout(ctx, cancelWait)
	defer cancel()
	door := c.o.Store.Tenant(a.Tenant.ID)
	if c.runsHere(call.ID) {
		if err := door.Record(ctx, cancelEvent(a, call)); err != nil {
			return err
		}
		if c.cancelHere(call.ID, errCancelled) {
			c.awaitEnd(ctx, call.ID)
		}
		c.o.History.Written(ctx)
		return nil
	}
	if call.AgentID == nil {
		return fault.Errorf(fault.Conflict, "The agent of this call is not there any more.")
	}
	return door.Tx(ctx, func(tx *store.Tenant) error {
		if err := tx.PutMail(ctx, store.NewMail{
			AgentID: *call.AgentID, Box: cancelBox + call.ID.String(), Message: "cancel", Urgent: true, ExpiresAt: c.o.Now().Add(cancelLife),
		}); err != nil {
			return err
		}
		return tx.Record(ctx, cancelEvent(a, call))
	})
}

// awaitEnd waits until a call of this process has ended.
func (c *Caller) awaitEnd(ctx context.Context, id connectors.ToolCallID) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if !c.runsHere(id) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// hearMail cancels a call of this process that another process was asked to cancel.
func (c *Caller) hearMail(box string) {
	text, ok := strings.CutPrefix(box, cancelBox)
	if !ok {
		return
	}
	if id, err := uuid.Parse(text); err == nil {
		c.cancelHere(connectors.ToolCallID{UUID: id}, errCancelled)
	}
}

// cancelTask asks the server of a task to give it up, and takes the call for cancelled.
func (c *Caller) cancelTask(ctx context.Context, a auth.Actor, call connectors.ToolCall) error {
	if err := c.o.Store.Tenant(a.Tenant.ID).Record(ctx, cancelEvent(a, call)); err != nil {
		return err
	}
	if call.AgentID != nil && call.TaskHandle != "" {
		view, err := c.o.Access.ByAgent(ctx, a.Tenant.ID, connectors.Ref(call.AgentID.String()))
		if err != nil {
			return err
		}
		if _, err := c.taskRequest(ctx, view, Client{}, "tasks/cancel", withMember([]byte("{}"), "taskId", stringOf(call.TaskHandle))); err != nil {
			c.logUnsaved(ctx, err) // the server may have ended it
		}
	}
	call.Status, call.Outcome, call.ErrorCode, call.ErrorMessage =
		connectors.CallCancelled, connectors.OutcomeCancelled, string(CodeCancelled), "A person cancelled this call."
	return c.endTask(ctx, a.Tenant.ID, call)
}

// textOf reads a JSON string; empty: it is none.
func textOf(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s)
	return s
}

// stringOf is a JSON string.
func stringOf(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return b
}
