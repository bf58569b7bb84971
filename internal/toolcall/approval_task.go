package toolcall

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// approvalPoll is how often a client should ask how its call is.
const approvalPoll = 2 * time.Second

// waitingTask is a call that waits for a person, as a task (the extension io.modelcontextprotocol/tasks): the client asks for it now and
// then, in place of holding its request.
func (a *attempt) waitingTask(row connectors.Approval) (json.RawMessage, error) {
	handle, err := a.sealHandle(a.order.View, purposeTask, task{Connector: row.ConnectorID, Call: row.ID})
	if err != nil {
		return nil, err
	}
	return taskOf(row, handle, "task", ""), nil
}

// taskOf writes the state of an approval as a task. more are further members, with a comma before them.
func taskOf(row connectors.Approval, handle json.RawMessage, kind, more string) json.RawMessage {
	status, message := "working", "Waiting for approval"
	switch row.State {
	case connectors.ApprovalApproved, connectors.ApprovalExecuting:
		message = "Approved, and under way"
	case connectors.ApprovalDone:
		status, message = "completed", "Approved, and done"
	case connectors.ApprovalDenied:
		status, message = "completed", "Denied"
	case connectors.ApprovalLapsed:
		status, message = "cancelled", "Nobody is asked any more"
	case connectors.ApprovalUnknown:
		status, message = "completed", "Patchbay stopped while the call was made"
	}
	updated := row.AskedAt
	if row.DecidedAt != nil {
		updated = *row.DecidedAt
	}
	return json.RawMessage(fmt.Sprintf(`{"resultType":%q,"taskId":%s,"status":%q,"statusMessage":%q,"createdAt":%q,"lastUpdatedAt":%q,"ttlMs":%d,"pollIntervalMs":%d%s}`,
		kind, handle, status, message, row.AskedAt.Format(time.RFC3339Nano), updated.Format(time.RFC3339Nano),
		row.ExpiresAt.Sub(row.AskedAt).Milliseconds(), approvalPoll.Milliseconds(), more))
}

// approvalTask answers for a call that waits for a person.
func (c *Caller) approvalTask(ctx context.Context, q Query, t task, handle json.RawMessage) (json.RawMessage, error) {
	v := q.View
	var row connectors.Approval
	err := c.o.Store.Retry(ctx, q.Wait, func(ctx context.Context) (err error) {
		row, err = c.o.Store.Tenant(v.Tenant.ID).Approval(ctx, t.Call)
		return err
	})
	if fault.Is(err, fault.NotFound) {
		return nil, &BadArguments{Sentence: "There is no such task any more."}
	}
	if err != nil {
		return nil, unavailable(err, t.Call)
	}
	switch q.Method {
	case "tasks/get":
		return c.approvalState(ctx, q, row, handle)
	case "tasks/cancel":
		return json.RawMessage(`{"resultType":"complete"}`), c.cancelApproval(ctx, v, row)
	default:
		return json.RawMessage(`{"resultType":"complete"}`), nil
	}
}

func (c *Caller) cancelApproval(ctx context.Context, v *access.View, row connectors.Approval) error {
	waited, err := c.withdraw(ctx, v.Tenant.ID, row.ID, "The client cancelled this call.")
	if err != nil {
		return unavailable(err, row.ID)
	}
	if waited || c.cancelHere(row.ID, errCancelled) || row.State != connectors.ApprovalExecuting {
		c.waits.wake(row.ID)
		return nil
	}
	return c.o.Store.Tenant(v.Tenant.ID).PutMail(ctx, store.NewMail{
		AgentID: row.AgentID, Box: cancelBox + row.ID.String(), Message: "cancel", Urgent: true, ExpiresAt: c.o.Now().Add(cancelLife),
	})
}

// unavailable is the refusal of a request about a call for which the database is needed.
func unavailable(err error, call connectors.ToolCallID) *Refusal {
	f := fault.As(err)
	return &Refusal{Code: CodeUnavailable, Sentence: f.Message, RetryAfter: time.Duration(f.RetryAfter) * time.Second, CallID: call, Err: err}
}

// approvalState is the task as it is now, with its result where it has one. What a tool's result would be in place of the call is that of
// the task: a refusal is a result that says so.
func (c *Caller) approvalState(ctx context.Context, q Query, row connectors.Approval, handle json.RawMessage) (json.RawMessage, error) {
	var (
		out Outcome
		err error
	)
	a := &attempt{Caller: c, order: &Order{View: q.View}}
	switch row.State {
	case connectors.ApprovalDone:
		err = c.o.Store.Retry(ctx, q.Wait, func(ctx context.Context) error {
			out, err = a.fetch(ctx, row.ID)
			return err
		})
		switch {
		case fault.Is(err, fault.NotFound):
			return nil, &BadArguments{Sentence: "There is no such task any more."}
		case fault.Is(err, fault.Unavailable): // the result may be fetched later
			return nil, unavailable(err, row.ID)
		}
	case connectors.ApprovalDenied:
		err = denied(row)
	case connectors.ApprovalUnknown:
		err = unknownOutcome()
	default:
		return taskOf(row, handle, "complete", ""), nil
	}
	result := keptOf(out, err)
	switch {
	case result.RPC != nil:
		raw := fmt.Sprintf(`,"error":{"code":%d,"message":%s}`, result.RPC.Code, stringOf(result.RPC.Message))
		return withMember(taskOf(row, handle, "complete", raw), "status", stringOf("failed")), nil
	case result.Refusal != nil:
		result.Raw = refusedResult(result.Refusal)
	}
	return taskOf(row, handle, "complete", `,"result":`+string(result.Raw)), nil
}

// refusedResult is a refusal as the result of a tool.
func refusedResult(r *Refusal) json.RawMessage {
	reason := map[string]any{"code": r.Code}
	if r.ConnectURL != "" {
		reason["connect_url"] = r.ConnectURL
	}
	raw, err := json.Marshal(map[string]any{
		"content": []any{map[string]any{"type": "text", "text": r.Sentence}}, "isError": true, "_meta": map[string]any{"patchbay/reason": reason},
	})
	if err != nil {
		return json.RawMessage(`{"content":[],"isError":true}`)
	}
	return raw
}
