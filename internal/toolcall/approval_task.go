package toolcall

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// approvalPollInterval is the pollIntervalMs for clients.
const approvalPollInterval = 2 * time.Second

// newApprovalTask represents a waiting call as a task (extension io.modelcontextprotocol/tasks), so that the
// client polls.
func (ap *approvals) newApprovalTask(ctx context.Context, a *activeCall, row connectors.Approval) (Outcome, error) {
	out := Outcome{CallID: row.ID, Call: a.call}
	handle, err := ap.handles.sealHandle(a.request.View, purposeTask, taskHandle{
		Connector: row.ConnectorID, Call: row.ID, Session: a.request.StatusSession, taskSession: taskSession{Account: row.Account},
	})
	if err != nil {
		return out, err
	}
	if a.request.HandshakeTasks {
		if handle, err = ap.saveTaskHandle(ctx, a, row.ID, handle); err != nil {
			return out, ap.explainer.explainError(ctx, a.request.View, a.connector, err)
		}
	}
	out.Raw, out.Task = formatTask(row, handle, "task", ""), true
	return out, nil
}

// saveTaskHandle stores the handle, so that the client can list the task. If the same call was made before, it returns the
// handle of then.
func (ap *approvals) saveTaskHandle(ctx context.Context, a *activeCall, id connectors.ToolCallID, handle json.RawMessage) (json.RawMessage, error) {
	calls := ap.o.Store.Tenant(a.request.View.Tenant.ID).Calls()
	err := ap.o.Store.Retry(ctx, a.request.Wait, func(ctx context.Context) error {
		call, err := calls.Get(ctx, id)
		switch {
		case err != nil:
			return err
		case call.TaskHandle != "":
			handle = quoteString(call.TaskHandle)
			return nil
		}
		return calls.SaveCallTask(ctx, id, store.CallTask{Handle: parseString(handle), Attached: true})
	})
	return handle, err
}

// formatTask writes an approval as a task. extra holds more members, with a leading comma.
func formatTask(row connectors.Approval, handle json.RawMessage, kind, extra string) json.RawMessage {
	status, message := "working", "Waiting for approval"
	switch row.State {
	case connectors.ApprovalApproved, connectors.ApprovalExecuting:
		message = "Approved, running"
	case connectors.ApprovalDone:
		status, message = "completed", "Approved, completed"
	case connectors.ApprovalDenied:
		status, message = "completed", "Denied"
	case connectors.ApprovalLapsed:
		status, message = "cancelled", "No longer waiting for approval"
	case connectors.ApprovalUnknown:
		status, message = "completed", "Patchbay stopped during the call"
	}
	updated := row.AskedAt
	if row.DecidedAt != nil {
		updated = *row.DecidedAt
	}
	return json.RawMessage(fmt.Sprintf(`{"resultType":%q,"taskId":%s,"status":%q,"statusMessage":%q,"createdAt":%q,"lastUpdatedAt":%q,"ttlMs":%d,"pollIntervalMs":%d%s}`,
		kind, handle, status, message, row.AskedAt.Format(time.RFC3339Nano), updated.Format(time.RFC3339Nano),
		row.ExpiresAt.Sub(row.AskedAt).Milliseconds(), approvalPollInterval.Milliseconds(), extra))
}

// handleApprovalTask answers tasks/get, tasks/update and tasks/cancel for a call that waits for approval.
func (ap *approvals) handleApprovalTask(ctx context.Context, q UpstreamRequest, t taskHandle, handle json.RawMessage) (json.RawMessage, error) {
	v := q.View
	var row connectors.Approval
	err := ap.o.Store.Retry(ctx, q.Wait, func(ctx context.Context) (err error) {
		row, err = ap.o.Store.Tenant(v.Tenant.ID).Calls().Approval(ctx, t.Call)
		return err
	})
	if fault.Is(err, fault.NotFound) {
		return nil, &InvalidArgumentsError{Sentence: "This task no longer exists."}
	}
	if err != nil {
		return nil, unavailableRefusal(err, t.Call)
	}
	switch q.Method {
	case "tasks/get":
		return ap.loadApprovalTask(ctx, q, row, handle)
	case "tasks/cancel":
		return json.RawMessage(`{"resultType":"complete"}`), ap.cancelApproval(ctx, q, row)
	default:
		return json.RawMessage(`{"resultType":"complete"}`), nil
	}
}

func (ap *approvals) cancelApproval(ctx context.Context, q UpstreamRequest, row connectors.Approval) error {
	tenant := q.View.Tenant.ID
	waited, err := ap.withdrawApproval(ctx, &withdrawal{Tenant: tenant, Call: row.ID, Reason: "The client cancelled this call.", Wait: q.Wait})
	if err != nil {
		return unavailableRefusal(err, row.ID)
	}
	if waited || ap.running.cancelCall(row.ID, errCancelled) || row.State != connectors.ApprovalExecuting {
		ap.waiters.wake(row.ID)
		return nil
	}
	err = ap.mail.putMail(ctx, q.Wait, tenant, store.NewMail{
		AgentID: row.AgentID, Box: cancelMailboxPrefix + row.ID.String(), Message: "cancel", Urgent: true, ExpiresAt: ap.o.Now().Add(cancelMailTTL),
	})
	if err != nil {
		return unavailableRefusal(err, row.ID)
	}
	return nil
}

func unavailableRefusal(err error, call connectors.ToolCallID) *RefusalError {
	f := fault.As(err)
	return &RefusalError{Code: CodeUnavailable, Sentence: f.Message, RetryAfter: time.Duration(f.RetryAfter) * time.Second, CallID: call, Err: err}
}

// loadApprovalTask is the current task, with its result if it has one. A refusal becomes a tool result, as for
// a call.
func (ap *approvals) loadApprovalTask(ctx context.Context, q UpstreamRequest, row connectors.Approval, handle json.RawMessage) (json.RawMessage, error) {
	var (
		out Outcome
		err error
	)
	a := &activeCall{request: &CallRequest{View: q.View}}
	switch row.State {
	case connectors.ApprovalDone:
		err = ap.o.Store.Retry(ctx, q.Wait, func(ctx context.Context) error {
			out, err = ap.fetchResult(ctx, a, row.ID)
			return err
		})
		switch {
		case fault.Is(err, fault.NotFound):
			return nil, &InvalidArgumentsError{Sentence: "This task no longer exists."}
		case fault.Is(err, fault.Unavailable): // the client may retry
			return nil, unavailableRefusal(err, row.ID)
		}
	case connectors.ApprovalDenied:
		err = deniedRefusal(row)
	case connectors.ApprovalUnknown:
		err = unknownOutcomeRefusal()
	default:
		return formatTask(row, handle, "complete", ""), nil
	}
	result := toStoredResult(out, err)
	switch {
	case result.RPC != nil:
		raw := fmt.Sprintf(`,"error":{"code":%d,"message":%s}`, result.RPC.Code, quoteString(result.RPC.Message))
		return withMember(formatTask(row, handle, "complete", raw), "status", quoteString("failed")), nil
	case result.Refusal != nil:
		result.Raw = toToolResult(result.Refusal, result.Refusal.AskURL(ap.o.BaseURL, row.AgentID))
	}
	return formatTask(row, handle, "complete", `,"result":`+string(result.Raw)), nil
}

// toToolResult is the tool result of a refusal, with the page where a person asks for access; empty: none.
func toToolResult(r *RefusalError, askURL string) json.RawMessage {
	raw, err := json.Marshal(map[string]any{
		"content": []any{map[string]any{"type": "text", "text": r.SentenceWithPage(askURL)}}, "isError": true,
		"_meta": map[string]any{"patchbay/reason": r.Reason(askURL)},
	})
	if err != nil {
		return json.RawMessage(`{"content":[],"isError":true}`)
	}
	return raw
}
