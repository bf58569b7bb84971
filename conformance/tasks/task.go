package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"time"
)

const taskTTL = time.Hour

// task is a task with an outcome that is known from the beginning, once its inputs are there.
type task struct {
	id      string
	created time.Time
	updated time.Time
	ends    time.Time              // when it has its outcome, if no input is missing
	inputs  map[string]jsonMembers // requests without a response
	outcome func() jsonMembers     // the members of its outcome

	isCancelled bool
}

// readState returns the members of a task at this moment.
func (t *task) readState() jsonMembers {
	status, outcome := "working", jsonMembers{}
	switch {
	case t.isCancelled:
		status = "cancelled"
	case len(t.inputs) > 0:
		status, outcome = "input_required", jsonMembers{"inputRequests": maps.Clone(t.inputs)}
	case !time.Now().Before(t.ends):
		outcome = t.outcome()
		if status = "completed"; outcome["error"] != nil {
			status = "failed"
		}
	}
	members := jsonMembers{
		"taskId": t.id, "status": status, "createdAt": formatTime(t.created), "lastUpdatedAt": formatTime(t.updated),
		"ttlMs": taskTTL.Milliseconds(), "pollIntervalMs": 100,
	}
	maps.Copy(members, outcome)
	return members
}

func (t *task) isEnded() bool {
	return t.isCancelled || len(t.inputs) == 0 && !time.Now().Before(t.ends)
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// beginTask stores a task and returns the result that announces it.
func (s *server) beginTask(duration time.Duration, inputs map[string]jsonMembers, outcome func() jsonMembers) jsonMembers {
	now := time.Now()
	t := &task{id: rand.Text(), created: now, updated: now, ends: now.Add(duration), inputs: inputs, outcome: outcome}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks[t.id] = t
	result := t.readState()
	result["resultType"] = "task"
	return result
}

func (s *server) handleTask(m *request) (jsonMembers, *rpcError) {
	if !m.Params.hasTasks() {
		return nil, missingTasks()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tasks[m.Params.TaskID]
	if t == nil {
		return nil, &rpcError{Code: codeInvalidParams, Message: "Task not found"}
	}
	result := jsonMembers{"resultType": "complete"}
	switch m.Method {
	case "tasks/get":
		maps.Copy(result, t.readState())
	case "tasks/update":
		for key := range m.Params.InputResponses {
			delete(t.inputs, key)
		}
		t.updated = time.Now()
	case "tasks/cancel":
		if !t.isEnded() {
			t.isCancelled, t.updated = true, time.Now()
		}
	}
	return result, nil
}

func listTools() []jsonMembers {
	var tools []jsonMembers
	for _, name := range []string{"greet", "slow_compute", "failing_job", "protocol_error_job", "confirm_delete", "multi_input", "test_tool_with_task"} {
		tools = append(tools, jsonMembers{"name": name, "description": "Tests tasks.", "inputSchema": jsonMembers{"type": "object"}})
	}
	return tools
}

func textResult(format string, args ...any) jsonMembers {
	return jsonMembers{"content": []jsonMembers{{"type": "text", "text": fmt.Sprintf(format, args...)}}}
}

// callTool calls a tool. Some run as tasks for clients that declare the extension.
func (s *server) callTool(ctx context.Context, p requestParams) (jsonMembers, *rpcError) {
	isRequired := p.Name == "failing_job" || p.Name == "test_tool_with_task"
	if isRequired && !p.hasTasks() {
		return nil, missingTasks()
	}
	duration := time.Second
	var inputs map[string]jsonMembers
	outcome := textResult("done")
	switch p.Name {
	case "greet":
		return completeResult(textResult("Hello, %s!", p.Arguments.Name)), nil
	case "slow_compute":
		duration, outcome = time.Duration(p.Arguments.Seconds*float64(time.Second)), textResult("computed")
		if duration == 0 {
			return completeResult(outcome), nil
		}
	case "failing_job":
		outcome["isError"] = true
	case "protocol_error_job":
		return s.runTask(ctx, p, duration, nil, jsonMembers{"error": rpcError{Code: -32603, Message: "The job crashed."}})
	case "confirm_delete":
		duration, inputs = 0, map[string]jsonMembers{"confirm": newQuestion("Delete it?", "confirm", "boolean")}
	case "multi_input":
		duration, inputs = 0, map[string]jsonMembers{"first": newQuestion("Your name?", "name", "string"), "second": newQuestion("Sure?", "confirm", "boolean")}
	case "test_tool_with_task":
		answer, ok := p.InputResponses["user_name"]
		if !ok {
			return jsonMembers{"resultType": "input_required", "inputRequests": jsonMembers{"user_name": newQuestion("Your name?", "name", "string")}}, nil
		}
		outcome = textResult("Hello, %v!", answer.Content["name"])
	default:
		return nil, &rpcError{Code: codeInvalidParams, Message: "Unknown tool"}
	}
	return s.runTask(ctx, p, duration, inputs, jsonMembers{"result": outcome})
}

// runTask begins a task, or waits where the client has none.
func (s *server) runTask(ctx context.Context, p requestParams, duration time.Duration, inputs map[string]jsonMembers, outcome jsonMembers) (jsonMembers, *rpcError) {
	if p.hasTasks() {
		return s.beginTask(duration, inputs, func() jsonMembers { return maps.Clone(outcome) }), nil
	}
	select {
	case <-ctx.Done():
	case <-time.After(duration):
	}
	if failure, ok := outcome["error"].(rpcError); ok {
		return nil, &failure
	}
	return completeResult(outcome["result"].(jsonMembers)), nil
}

func completeResult(result jsonMembers) jsonMembers {
	result["resultType"] = "complete"
	return result
}

func newQuestion(message, field, kind string) jsonMembers {
	return jsonMembers{"method": "elicitation/create", "params": jsonMembers{
		"mode": "form", "message": message,
		"requestedSchema": jsonMembers{"type": "object", "properties": jsonMembers{field: jsonMembers{"type": kind}}, "required": []string{field}},
	}}
}
