package toolcall

import (
	"context"
	"encoding/json"
	"time"

	"patchbay/internal/mcp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// A client of 2025-11-25 asks for a task, and a server may answer with the result. Then the result is stored, sealed, and the
// client fetches it as that of a task.

const (
	// maxStoredTTL bounds how long such a result is kept.
	maxStoredTTL = 10 * time.Minute
	// taskResultBoxPrefix names the mailbox of a result, followed by the call's id. It has bounds of its own.
	taskResultBoxPrefix = "task-"
)

// storedTask is a task that had ended when it was made.
type storedTask struct {
	At  time.Time     `json:"a"`
	TTL time.Duration `json:"l"`
}

// saveTaskResult stores a result, and returns its task in the form of the extension.
func (rec *callRecorder) saveTaskResult(ctx context.Context, a *activeCall, result *mcp.Result) (json.RawMessage, error) {
	v, now := a.request.View, rec.o.Now().UTC()
	stored := storedTask{At: now, TTL: min(a.request.taskTTL(), maxStoredTTL)}
	handle, err := rec.handles.sealHandle(v, purposeTask, taskHandle{
		Connector: a.connector.Connector.ID, Call: a.call.ID, Stored: &stored, taskSession: taskSession{Account: usedAccount(a.credential)},
	})
	if err != nil {
		return nil, err
	}
	message, err := json.Marshal(storedResult{Raw: result.Raw, IsError: result.IsError})
	if err != nil {
		return nil, err
	}
	mail := store.NewMail{
		ID: store.NewMailID(), AgentID: v.Agent.ID, Box: taskResultBoxPrefix + a.call.ID.String(), Message: secret.Text(message), ExpiresAt: now.Add(stored.TTL),
	}
	state := stored.formatTask(handle)
	err = rec.o.Store.RetryStarted(context.WithoutCancel(ctx), func(ctx context.Context) error {
		rec.o.History.Flush(ctx)
		calls := rec.o.Store.Tenant(v.Tenant.ID).Calls()
		if err := calls.PutMail(ctx, mail); err != nil {
			return err
		}
		return calls.SaveCallTask(ctx, a.call.ID, store.CallTask{State: trimForHistory(v, state), Handle: parseString(handle), Attached: true})
	})
	if err != nil {
		return nil, unavailableRefusal(err, a.call.ID)
	}
	a.lastTask = &mcp.Task{Raw: state, Status: taskCompleted}
	return state, nil
}

// formatTask writes the task in the form of the extension, without its result.
func (s storedTask) formatTask(handle json.RawMessage) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{ // it always marshals
		"resultType": "complete", "taskId": handle, "status": taskCompleted, "createdAt": s.At, "lastUpdatedAt": s.At,
		"ttlMs": s.TTL.Milliseconds(), "pollIntervalMs": minTaskPoll.Milliseconds(),
	})
	return raw
}

// handleStoredTask answers tasks/get, tasks/update and tasks/cancel for a stored result.
func (tr *taskRequests) handleStoredTask(ctx context.Context, q UpstreamRequest, t taskHandle, handle json.RawMessage) (json.RawMessage, error) {
	if q.Method != "tasks/get" {
		return json.RawMessage(`{"resultType":"complete"}`), nil
	}
	var letters []store.MailMessage
	err := tr.o.Store.Retry(ctx, q.Wait, func(ctx context.Context) (err error) {
		letters, err = tr.o.Store.Vault(q.View.Tenant.ID).Mail(ctx, q.View.Agent.ID, taskResultBoxPrefix+t.Call.String(), [16]byte{})
		return err
	})
	if err != nil {
		return nil, unavailableRefusal(err, t.Call)
	}
	var result storedResult
	if len(letters) == 0 || json.Unmarshal([]byte(letters[0].Message.Reveal()), &result) != nil {
		return nil, &InvalidArgumentsError{Sentence: "This task no longer exists."}
	}
	return withMember(t.Stored.formatTask(handle), "result", result.Raw), nil
}
