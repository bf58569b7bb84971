package toolcall

import (
	"context"
	"encoding/json"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// A client of 2025-11-25 is told what others do to its tasks: a person cancels one or decides about it, or its time is over.
// The notification is mail for the process that has the stream of the session's GET. Without such a stream it expires:
// clients poll. A client that waits in tasks/result gets the states of the server there, on the stream of that request.

const (
	notificationBoxPrefix = "notify-" // followed by the session
	notificationTTL       = time.Minute
)

// Notification is a notification for a client in any process.
type Notification struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// NotificationBox is the mailbox for notifications of a client's session.
func NotificationBox(session string) string { return notificationBoxPrefix + session }

// NewNotificationMail returns a notification as mail for the process that has a stream of the session.
func NewNotificationMail(agent connectors.AgentID, session string, n Notification, now time.Time) (store.NewMail, error) {
	message, err := json.Marshal(n)
	return store.NewMail{
		ID: store.NewMailID(), AgentID: agent, Box: NotificationBox(session), Message: secret.Text(message), ExpiresAt: now.Add(notificationTTL),
	}, err
}

// taskAnnouncer tells clients the states of their tasks.
type taskAnnouncer struct {
	o       *Options
	handles *handleSealer
}

// announceByID reads a call, and announces its task. edit sets what the history does not have yet; nil: nothing.
func (ta *taskAnnouncer) announceByID(ctx context.Context, st *store.Tenant, t connectors.TenantID, id connectors.ToolCallID, edit func(*handshakeTask)) error {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	call, err := st.Calls().Get(ctx, id)
	if fault.Is(err, fault.NotFound) { // the history does not keep it
		return nil
	}
	if err != nil {
		return err
	}
	return ta.announceTask(ctx, st, t, call, edit)
}

// announceTask stores the state of a call's task as mail for its client, if the client takes notifications.
func (ta *taskAnnouncer) announceTask(ctx context.Context, st *store.Tenant, t connectors.TenantID, call connectors.ToolCall, edit func(*handshakeTask)) error {
	if call.TaskHandle == "" || call.AgentID == nil {
		return nil
	}
	owner := &agentview.View{Tenant: connectors.Tenant{ID: t}, Agent: connectors.Agent{ID: *call.AgentID}}
	var handle taskHandle
	if !ta.handles.openHandle(owner, purposeTask, quoteString(call.TaskHandle), &handle) || handle.Session == "" {
		return nil
	}
	task := ta.handles.toListedTask(owner, call)
	if edit != nil {
		edit(&task)
	}
	params, err := formatHandshakeTask(task)
	if err != nil {
		return err
	}
	mail, err := NewNotificationMail(owner.Agent.ID, handle.Session, Notification{Method: taskStatusMethod, Params: params}, ta.o.Now())
	if err != nil {
		return err
	}
	mail.Urgent = true // an act of others does not fail at the agent's bounds
	return st.Calls().PutMail(ctx, mail)
}

// toResultStatus sets the state of a task after the end of its approved call with this result.
func (r storedResult) toResultStatus(task *handshakeTask, now time.Time) {
	task.Status, task.Message, task.UpdatedAt = taskCompleted, "Approved, completed", now
	switch {
	case r.Refusal != nil && r.Refusal.Code == CodeCancelled:
		task.Status, task.Message = taskCancelled, r.Refusal.Sentence
	case r.Refusal != nil:
		task.Status, task.Message = taskFailed, r.Refusal.Sentence
	case r.RPC != nil, r.IsError:
		task.Status = taskFailed
	}
}
