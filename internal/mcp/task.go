package mcp

import (
	"context"
	"encoding/json"
	"time"

	"patchbay/internal/mcp/wire"
)

// Task is work that a server goes on with by itself (the extension io.modelcontextprotocol/tasks). The server makes one of a call
// where the caller says, in its capabilities, that it understands tasks. All of it is remote text.
type Task struct {
	ID            string
	Status        string        // "working", "input_required", "completed", "failed" or "cancelled"
	Message       string        // what the server says of it; empty: nothing
	PollInterval  time.Duration // how often the server likes to be asked; 0: it does not say
	TTL           time.Duration // how long the server keeps it; 0: it does not say
	InputRequests json.RawMessage
	Result        json.RawMessage // of the call, once it is completed
	Error         *RPCError       // of the call, once it has failed; nil: the server names none
	Raw           json.RawMessage // all of it
}

// Task asks how a task is. who is whose it is, as in a [Call].
func (s *Session) Task(ctx context.Context, payer [16]byte, id string) (*Task, error) {
	raw, err := s.Query(ctx, Query{Method: "tasks/get", Params: taskParams(id), Payer: payer})
	if err != nil {
		return nil, err
	}
	if task := readTask(raw); task != nil {
		return task, nil
	}
	return nil, protocolError(PhaseRequest, "sent a task without an id")
}

// AnswerTask answers what a task asked for: results, by the keys of its InputRequests.
func (s *Session) AnswerTask(ctx context.Context, id string, responses json.RawMessage) error {
	params := wire.Object([]wire.Member{{Name: "taskId", Value: wire.Text(id)}, {Name: "inputResponses", Value: responses}})
	_, err := s.Request(ctx, "tasks/update", params)
	return err
}

// CancelTask asks the server to give a task up.
func (s *Session) CancelTask(ctx context.Context, id string) error {
	_, err := s.Request(ctx, "tasks/cancel", taskParams(id))
	return err
}

func taskParams(id string) json.RawMessage {
	return wire.Object([]wire.Member{{Name: "taskId", Value: wire.Text(id)}})
}

// readTask reads a task; nil: it has no id.
func readTask(raw []byte) *Task {
	fields := members(raw)
	task := &Task{
		ID: text(fields.get("taskId"), maxNameLength), Status: text(fields.get("status"), maxNameLength),
		Message: text(fields.get("statusMessage"), maxNameLength), Error: readRPCError(fields.get("error")),
		PollInterval: milliseconds(fields.get("pollIntervalMs")), TTL: milliseconds(fields.get("ttlMs")),
		InputRequests: fields.get("inputRequests"), Result: fields.get("result"), Raw: raw,
	}
	if task.ID == "" {
		return nil
	}
	return task
}

// readRPCError reads the error of a task; nil: there is none.
func readRPCError(raw json.RawMessage) *RPCError {
	fields := members(raw)
	if fields == nil {
		return nil
	}
	e := &RPCError{Message: text(fields.get("message"), maxInstructionsLength), Data: fields.get("data")}
	if json.Unmarshal(fields.get("code"), &e.Code) != nil {
		e.Code = 0
	}
	return e
}

func milliseconds(raw json.RawMessage) time.Duration {
	var n int64
	if json.Unmarshal(raw, &n) != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, maxTTL.Milliseconds())) * time.Millisecond
}
