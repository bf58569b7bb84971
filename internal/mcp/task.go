package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// Task is a call that the server continues in the background: with the extension io.modelcontextprotocol/tasks of
// 2026-07-28, if the client declares that capability, or in 2025-11-25, if [Call.TaskTTL] asks for it. All of it is
// remote text.
type Task struct {
	ID            string
	Status        string        // "working", "input_required", "completed", "failed" or "cancelled"
	Message       string        // status message; empty: none
	PollInterval  time.Duration // 0: not declared
	TTL           time.Duration // how long the server keeps the task; 0: not declared
	InputRequests json.RawMessage
	Result        json.RawMessage // of the call, if completed
	Error         *RPCError       // of the call, if failed; nil: none
	Raw           json.RawMessage // in the form of the extension
	// IsHandshake: the task is one of 2025-11-25. The server's requests arrive while tasks/result is open.
	IsHandshake bool

	connection *connection // of the call; nil: its progress cannot be followed
	callID     int         // the request id of the call, and so its progress token
}

// FollowProgress passes notifications/progress of the call to report, until stop is called. In 2025-11-25 the token of the call
// stays valid as long as its task. A server over HTTP sends them on the stream of a GET.
func (t *Task) FollowProgress(report func(ProgressNotification)) (stop func()) {
	c := t.connection
	if c == nil || !t.IsHandshake || report == nil {
		return func() {}
	}
	c.startServerStream()
	id, w := c.registerCallbacks(t.callID, &requestCallbacks{progress: report})
	return func() { c.unregisterCallbacks(id, w) }
}

// Task returns the state of a task, with the result if it ended. memoryKey is as in a [Call].
func (s *Session) Task(ctx context.Context, memoryKey [16]byte, id string) (*Task, error) {
	raw, err := s.Send(ctx, OtherRequest{Method: "tasks/get", Params: taskParams(id), MemoryKey: memoryKey})
	if err != nil {
		return nil, err
	}
	read := readTask
	if s.currentConnection().era.hasServerRequests() {
		read = readHandshakeTask
	}
	task := read(raw)
	switch {
	case task == nil:
		return nil, newProtocolError(PhaseRequest, "sent a task without ID")
	case task.IsHandshake && (task.Status == "completed" || task.Status == "failed"):
		return task, s.loadTaskResult(ctx, memoryKey, task)
	}
	return task, nil
}

// loadTaskResult adds the result of an ended task of 2025-11-25. There a failed task has a result, or the call's
// JSON-RPC error. In the extension only the error is a failure.
func (s *Session) loadTaskResult(ctx context.Context, memoryKey [16]byte, task *Task) error {
	raw, err := s.Send(ctx, OtherRequest{Method: "tasks/result", Params: taskParams(task.ID), MemoryKey: memoryKey})
	failure, _ := errors.AsType[*Error](err)
	switch {
	case err == nil:
		task.Status, task.Result = "completed", WithRelatedTask(raw, nil)
		task.setOutcome(wire.Member{Name: "result", Value: task.Result})
	case failure != nil && failure.Reason == ReasonRPC && failure.RPC != nil:
		task.Status, task.Error = "failed", failure.RPC
		task.setOutcome(wire.Member{Name: "error", Value: failure.RPC.toJSON()})
	default:
		return err
	}
	return nil
}

// setOutcome writes the status and the outcome into Raw.
func (t *Task) setOutcome(outcome wire.Member) {
	members := withoutMembers(readObject(t.Raw), "status")
	t.Raw = wire.Object(append(members, wire.Member{Name: "status", Value: wire.Text(t.Status)}, outcome))
}

// AnswerTask sends results by the keys of the task's InputRequests.
func (s *Session) AnswerTask(ctx context.Context, id string, responses json.RawMessage) error {
	params := wire.Object([]wire.Member{{Name: "taskId", Value: wire.Text(id)}, {Name: "inputResponses", Value: responses}})
	_, err := s.Request(ctx, "tasks/update", params)
	return err
}

// TaskRelay is the client's side of a task of 2025-11-25 that asks for input.
type TaskRelay struct {
	ID      string        // of the task
	Timeout time.Duration // of the relay
	// Answer and CallerKey are as in a [Call].
	Answer    func(InputRequest) (json.RawMessage, error)
	CallerKey [16]byte
}

// RelayTask answers the server's requests for a task, until the task or ctx ends.
func (s *Session) RelayTask(ctx context.Context, r TaskRelay) error {
	_, err := s.Send(ctx, OtherRequest{Method: "tasks/result", Params: taskParams(r.ID), Timeout: r.Timeout, Answer: r.Answer, CallerKey: r.CallerKey})
	return err
}

// CancelTask asks the server to cancel a task.
func (s *Session) CancelTask(ctx context.Context, id string) error {
	_, err := s.Request(ctx, "tasks/cancel", taskParams(id))
	return err
}

// AcceptsTasks reports whether the server declares that it runs tools as tasks.
func (s *Session) AcceptsTasks() bool {
	c := s.currentConnection()
	handshake, extension := DeclaredTasks(c.serverCapabilities)
	if c.era.hasServerRequests() {
		return handshake
	}
	return extension
}

// DeclaredTasks reports which tasks the capabilities of a server declare: those of 2025-11-25 for tools/call, and the
// extension of 2026-07-28.
func DeclaredTasks(capabilities json.RawMessage) (ofHandshake, ofExtension bool) {
	declared := readObject(capabilities)
	requests := readObject(readObject(declared.get("tasks")).get("requests"))
	call := readObject(requests.get("tools")).get("call")
	extension := readObject(declared.get("extensions")).get(revision.TasksExtension)
	return bytes.HasPrefix(call, []byte("{")), bytes.HasPrefix(extension, []byte("{"))
}

// WithRelatedTask returns params or a result with the task's id in its _meta (2025-11-25, "Related Task Metadata");
// nil: without one.
func WithRelatedTask(raw, id json.RawMessage) json.RawMessage {
	members := readObject(raw)
	meta := readObject(members.get("_meta"))
	if !hasMember(meta, revision.MetaRelatedTask) && id == nil {
		return raw
	}
	meta = withoutMembers(meta, revision.MetaRelatedTask)
	if id != nil {
		related := wire.Object([]wire.Member{{Name: "taskId", Value: id}})
		meta = append(meta, wire.Member{Name: revision.MetaRelatedTask, Value: related})
	}
	members = withoutMembers(members, "_meta")
	if len(meta) > 0 {
		members = append(members, wire.Member{Name: "_meta", Value: wire.Object(meta)})
	}
	return wire.Object(members)
}

func taskParams(id string) json.RawMessage {
	return wire.Object([]wire.Member{{Name: "taskId", Value: wire.Text(id)}})
}

// readTask reads a task; nil: it has no id.
func readTask(raw []byte) *Task {
	fields := readObject(raw)
	task := &Task{
		ID: readString(fields.get("taskId"), maxNameLength), Status: readString(fields.get("status"), maxNameLength),
		Message: readString(fields.get("statusMessage"), maxNameLength), Error: readRPCError(fields.get("error")),
		PollInterval: readMilliseconds(fields.get("pollIntervalMs")), TTL: readMilliseconds(fields.get("ttlMs")),
		InputRequests: fields.get("inputRequests"), Result: fields.get("result"), Raw: raw,
	}
	if task.ID == "" {
		return nil
	}
	return task
}

// handshakeTaskMembers maps the members of a task of 2025-11-25 to those of the extension.
var handshakeTaskMembers = map[string]string{
	"taskId": "taskId", "status": "status", "statusMessage": "statusMessage", "createdAt": "createdAt",
	"lastUpdatedAt": "lastUpdatedAt", "ttl": "ttlMs", "pollInterval": "pollIntervalMs",
}

// readHandshakeTask reads a task of 2025-11-25; nil: it has no id.
func readHandshakeTask(raw []byte) *Task {
	members := []wire.Member{{Name: "resultType", Value: wire.Text(resultComplete)}}
	for _, m := range readObject(raw) {
		if name := handshakeTaskMembers[m.Name]; name != "" {
			members = append(slices.DeleteFunc(members, func(seen wire.Member) bool { return seen.Name == name }), wire.Member{Name: name, Value: m.Value})
		}
	}
	task := readTask(wire.Object(members))
	if task != nil {
		task.IsHandshake = true
	}
	return task
}

// readCreatedTask reads the result of a call that became a task of 2025-11-25; nil: it is none.
func readCreatedTask(fields []wire.Member) *Task {
	task := readHandshakeTask(jsonMembers(fields).get("task"))
	if task != nil {
		members := withoutMembers(readObject(task.Raw), "resultType")
		task.Raw = wire.Object(append([]wire.Member{{Name: "resultType", Value: wire.Text(resultTask)}}, members...))
	}
	return task
}

// readRPCError reads the error of a task; nil: there is none.
func readRPCError(raw json.RawMessage) *RPCError {
	fields := readObject(raw)
	if fields == nil {
		return nil
	}
	e := &RPCError{Message: readString(fields.get("message"), maxInstructionsLength), Data: fields.get("data")}
	if json.Unmarshal(fields.get("code"), &e.Code) != nil {
		e.Code = 0
	}
	return e
}

// toJSON writes a JSON-RPC error object.
func (e *RPCError) toJSON() json.RawMessage {
	members := []wire.Member{{Name: "code", Value: wire.Number(e.Code)}, {Name: "message", Value: wire.Text(e.Message)}}
	if len(e.Data) > 0 {
		members = append(members, wire.Member{Name: "data", Value: e.Data})
	}
	return wire.Object(members)
}

func readMilliseconds(raw json.RawMessage) time.Duration {
	var n int64
	if json.Unmarshal(raw, &n) != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, maxTTL.Milliseconds())) * time.Millisecond
}
