package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/toolcall"
)

// hasHandshakeTasks reports whether a client's revision has the tasks of 2025-11-25.
func hasHandshakeTasks(p *serve.Client) bool { return !p.Modern && p.Version >= revision.TasksSince }

// handleTask serves the methods about tasks, in the form of the client's revision.
func (b *backend) handleTask(ctx context.Context, r *serve.Request) (raw json.RawMessage, err error) {
	switch {
	case hasHandshakeTasks(r.Peer) && r.Method == "tasks/list":
		raw, err = b.h.caller.HandshakeTasks(ctx, b.view, b.newClient(r), r.Cursor)
	case hasHandshakeTasks(r.Peer) && r.Method != "tasks/update":
		raw, err = b.h.caller.HandshakeTask(ctx, b.view, b.newClient(r), r.Method, r.Params)
	case !r.Peer.Modern || r.Method == "tasks/list" || r.Method == "tasks/result":
		return nil, serve.MethodNotFound(r.Method)
	case !r.Peer.Can("tasks"):
		return nil, missingTasks()
	default:
		raw, err = b.h.caller.TaskRequest(ctx, b.view, b.newClient(r), r.Method, r.Params)
	}
	if err != nil {
		return nil, newRequestError(err, b.askURL)
	}
	raw = b.shapeTask(ctx, r, raw)
	if !bytes.Contains(raw, uiMark) && !bytes.Contains(raw, skillMark) {
		return raw, nil
	}
	connector := b.h.caller.TaskConnector(b.view, r.Params)
	if connector == nil {
		return raw, nil
	}
	return b.exposeApps(connector, raw, toolResult, taskResult), nil
}

// missingTasks refuses a method of the extension to a client that does not declare it (2026-07-28, "Missing Required
// Capabilities").
func missingTasks() *serve.RPCError {
	return &serve.RPCError{
		Code: revision.CodeMissingCapability, Message: "The request does not declare the extension " + revision.TasksExtension + ".",
		Data: json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + revision.TasksExtension + `":{}}}}`),
	}
}

// maxRequestedTTL bounds the ttl of a client, in milliseconds.
const maxRequestedTTL = 1 << 40

// readTask makes a task of the call if a client of 2025-11-25 asks for one. Other clients cannot ask.
func readTask(r *serve.Request, tool *agentview.Tool, request *toolcall.CallRequest) error {
	if r.Task == nil || !hasHandshakeTasks(r.Peer) {
		return nil
	}
	var task *struct{ TTL *float64 }
	switch err := json.Unmarshal(r.Task, &task); {
	case err != nil || task == nil || task.TTL != nil && (*task.TTL < 0 || *task.TTL > maxRequestedTTL):
		return serve.InvalidParams("A call's task must be an object with a ttl in milliseconds.")
	case tool.Listed() && !tool.OffersTasks:
		return &serve.RPCError{Code: revision.CodeMethodNotFound, Message: fmt.Sprintf("The tool %q does not support tasks. Call it without one.", truncateName(r.Name))}
	}
	request.Task, request.HandshakeTasks = true, true
	if task.TTL != nil {
		request.TaskTTL = time.Duration(*task.TTL) * time.Millisecond
	}
	return nil
}
