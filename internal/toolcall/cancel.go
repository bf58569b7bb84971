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
	cancelMailboxPrefix = "cancel-" // plus the call's id: mail for the process that runs it
	cancelMailTTL       = time.Minute
	cancelTimeout       = 2 * time.Second // for a cancelled call to end
)

// canceller ends calls for people.
type canceller struct {
	o         *Options
	running   *runningCalls
	waiters   *waiterSet
	approvals *approvals
	tasks     *taskRequests
	recorder  *callRecorder
	announcer *taskAnnouncer
}

// Cancel ends a waiting or running call, in any process. A member may. It is a Conflict if the call has ended.
// The audit event is written before the call ends.
func (c *Executor) Cancel(ctx context.Context, a auth.Actor, id connectors.ToolCallID) (connectors.ToolCall, error) {
	if call, err := c.canceller.cancelCall(ctx, a, id); err != nil {
		return call, err
	}
	return c.ReadSummary(ctx, a, id)
}

func (cn *canceller) cancelCall(ctx context.Context, a auth.Actor, id connectors.ToolCallID) (connectors.ToolCall, error) {
	if err := a.Require(connectors.PermOperate); err != nil {
		return connectors.ToolCall{}, err
	}
	tenant := cn.o.Store.Tenant(a.Tenant.ID)
	call, err := tenant.Calls().Get(ctx, id)
	if err != nil {
		return call, err
	}
	switch {
	case call.Status.Ended():
		err = fault.Errorf(fault.Conflict, "This call has ended.")
	case call.Status == connectors.CallPendingApproval:
		err = cn.cancelWaiting(ctx, a, call)
	case call.InstanceID == nil && call.Task != nil:
		err = cn.cancelTask(ctx, a, call)
	default:
		err = cn.cancelRunning(ctx, a, call)
	}
	return call, err
}

func newCancelEvent(a auth.Actor, call connectors.ToolCall) store.Event {
	event := a.Event("tool_call.cancel", call.ExposedName)
	event.Detail = map[string]any{"tool_call_id": call.ID.String(), "tool": call.Tool}
	return event
}

func (cn *canceller) cancelWaiting(ctx context.Context, a auth.Actor, call connectors.ToolCall) error {
	waited, err := cn.approvals.withdrawApproval(ctx, &withdrawal{
		Tenant: a.Tenant.ID, Call: call.ID, Reason: "Someone cancelled this call.", Events: []store.Event{newCancelEvent(a, call)},
	})
	if err == nil && !waited {
		err = fault.Errorf(fault.Conflict, "This call was just decided. Reload it.")
	}
	cn.waiters.wake(call.ID)
	if err == nil {
		cn.announceCancelled(ctx, a.Tenant.ID, call.ID)
	}
	return err
}

// announceCancelled tells the client of a task that it was cancelled. A failure is only logged.
func (cn *canceller) announceCancelled(ctx context.Context, t connectors.TenantID, id connectors.ToolCallID) {
	cn.o.logUnsaved(ctx, cn.announcer.announceByID(ctx, cn.o.Store.Tenant(t), t, id, nil))
}

// cancelRunning cancels a call here, or by mail in the process that runs it.
func (cn *canceller) cancelRunning(ctx context.Context, a auth.Actor, call connectors.ToolCall) error {
	ctx, cancel := context.WithTimeout(ctx, cancelTimeout)
	defer cancel()
	tenant := cn.o.Store.Tenant(a.Tenant.ID)
	if cn.running.isRunning(call.ID) {
		if err := tenant.Audit().Record(ctx, newCancelEvent(a, call)); err != nil {
			return err
		}
		if cn.running.cancelCall(call.ID, errCancelled) {
			cn.running.waitForEnd(ctx, call.ID)
		}
		cn.o.History.Flush(ctx)
		return nil
	}
	if call.AgentID == nil {
		return fault.Errorf(fault.Conflict, "This call's agent no longer exists.")
	}
	return tenant.Tx(ctx, func(tx *store.Tenant) error {
		if err := tx.Calls().PutMail(ctx, store.NewMail{
			AgentID: *call.AgentID, Box: cancelMailboxPrefix + call.ID.String(), Message: "cancel", Urgent: true, ExpiresAt: cn.o.Now().Add(cancelMailTTL),
		}); err != nil {
			return err
		}
		return tx.Audit().Record(ctx, newCancelEvent(a, call))
	})
}

// handleCancelMail cancels a call of this process that another process asked to cancel.
func (r *runningCalls) handleCancelMail(box string) {
	text, ok := strings.CutPrefix(box, cancelMailboxPrefix)
	if !ok {
		return
	}
	if id, err := uuid.Parse(text); err == nil {
		r.cancelCall(connectors.ToolCallID{UUID: id}, errCancelled)
	}
}

// cancelTask sends tasks/cancel and records the call as cancelled.
func (cn *canceller) cancelTask(ctx context.Context, a auth.Actor, call connectors.ToolCall) error {
	if err := cn.o.Store.Tenant(a.Tenant.ID).Audit().Record(ctx, newCancelEvent(a, call)); err != nil {
		return err
	}
	if call.AgentID != nil && call.TaskHandle != "" {
		view, err := cn.o.Access.ByAgent(ctx, a.Tenant.ID, connectors.Ref(call.AgentID.String()))
		if err != nil {
			return err
		}
		if _, err := cn.tasks.sendTaskRequest(ctx, view, Client{Caller: connectors.CallerAgent(view.Agent.ID)}, "tasks/cancel", withMember([]byte("{}"), "taskId", quoteString(call.TaskHandle))); err != nil {
			cn.o.logUnsaved(ctx, err) // the server may have ended the task
		}
	}
	call.Status, call.Outcome, call.ErrorCode, call.ErrorMessage =
		connectors.CallCancelled, connectors.OutcomeCancelled, string(CodeCancelled), "Someone cancelled this call."
	err := cn.recorder.finishTask(ctx, a.Tenant.ID, call)
	if err == nil {
		cn.announceCancelled(ctx, a.Tenant.ID, call.ID)
	}
	return err
}

// parseString reads a JSON string; empty: not a string.
func parseString(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s)
	return s
}

func quoteString(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return b
}
