package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/revision"
)

// A server keeps a task for its ttl. After that, or when the server knows the task no more, its call ends here too: the next
// poll or the sweep ends it.

// taskGrace is how long a task is kept here after a poll in which its server still knew it.
const taskGrace = time.Minute

// taskExpiry is when a server may forget a task that it made at this time; nil: it tells no ttl.
func taskExpiry(made time.Time, ttl time.Duration) *time.Time {
	if ttl <= 0 {
		return nil
	}
	return new(made.Add(min(ttl, maxTaskTTL)))
}

// knownUntil is when the server may forget a task of which it told the state now; nil: it tells no ttl.
func (rec *callRecorder) knownUntil(t taskHandle, raw json.RawMessage) *time.Time {
	ttl := toHandshakeTask(raw, t.beganAt()).TTL
	if ttl == nil {
		return nil
	}
	expiry := taskExpiry(t.beganAt(), time.Duration(min(*ttl, maxTaskTTL.Milliseconds()))*time.Millisecond)
	if grace := rec.o.Now().Add(taskGrace); expiry == nil || expiry.Before(grace) {
		return &grace
	}
	return expiry
}

// isTaskUnknown reports whether the error of tasks/get says that there is no such task (-32602 in both revisions).
func isTaskUnknown(err error) bool {
	failure, ok := errors.AsType[*mcp.Error](err)
	return ok && failure.RPC != nil && failure.Reason == mcp.ReasonRPC && failure.RPC.Code == revision.CodeInvalidParams
}

// recordExpired ends the call of a task that its server does not know any more. A failure is only logged.
func (rec *callRecorder) recordExpired(ctx context.Context, v *agentview.View, t taskHandle) {
	call := connectors.ToolCall{
		ID: t.Call, Task: []byte(`{"status":"failed"}`), Status: connectors.CallError, Outcome: connectors.OutcomeLost, ErrorCode: "task_expired",
		ErrorMessage: "The server no longer knows this task. Its outcome is unknown.",
	}
	rec.o.logUnsaved(ctx, rec.finishTask(context.WithoutCancel(ctx), v.Tenant.ID, call))
}
