package mcp

import (
	"context"
	"encoding/json"
	"time"

	"patchbay/internal/mcp/wire"
)

// Task is a call that the server continues in the background (extension io.modelcontextprotocol/tasks), if the
// client declares that capability. All of it is remote text.
type Task struct {
	ID            string
	Status        string        // "working", "input_required", "completed", "failed" or "cancelled"
	Message       string        // status message; empty: none
	PollInterval  time.Duration // 0: not declared
	TTL           time.Duration // how long the server keeps the task; 0: not declared
	InputRequests json.RawMessage
	Result        json.RawMessage // of the call, if completed
	Error         *RPCError       // of the call, if failed; nil: none
	Raw           json.RawMessage
}

// Task returns the state of a task. memoryKey is as in a [Call].
func (s *Session) Task(ctx context.Context, memoryKey [16]byte, id string) (*Task, error) {
	raw, err := s.Send(ctx, OtherRequest{Method: "tasks/get", Params: taskParams(id), MemoryKey: memoryKey})
	if err != nil {
		return nil, err
	}
	if task := readTask(raw); task != nil {
		return task, nil
	}
	return nil, newProtocolError(PhaseRequest, "sent a task without an id")
}

// AnswerTask sends results by the keys of the task's InputRequests.
func (s *Session) AnswerTask(ctx context.Context, id string, responses json.RawMessage) error {
	params := wire.Object([]wire.Member{{Name: "taskId", Value: wire.Text(id)}, {Name: "inputResponses", Value: responses}})
	_, err := s.Request(ctx, "tasks/update", params)
	return err
}

// CancelTask asks the server to cancel a task.
func (s *Session) CancelTask(ctx context.Context, id string) error {
	_, err := s.Request(ctx, "tasks/cancel", taskParams(id))
	return err
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

func readMilliseconds(raw json.RawMessage) time.Duration {
	var n int64
	if json.Unmarshal(raw, &n) != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, maxTTL.Milliseconds())) * time.Millisecond
}
