package toolcall_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/toolcall"
)

func wantExpired(t *testing.T, row connectors.ToolCall) {
	t.Helper()
	if row.Status != connectors.CallError || row.Outcome != connectors.OutcomeLost || row.ErrorCode != "task_expired" || row.CompletedAt == nil {
		t.Errorf("row = %+v", row)
	}
}

func wantUnknownTask(t *testing.T, err error) {
	t.Helper()
	if failure, ok := errors.AsType[*mcp.Error](err); !ok || failure.RPC == nil || failure.RPC.Code != -32602 {
		t.Errorf("err = %v", err)
	}
}

// TestTask_UnknownToServerEnds: the next poll ends the call of a task that its server forgot.
func TestTask_UnknownToServerEnds(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	a := b.newTrustedAgent(t, b.c)
	request := b.order(t, b.process, a, b.c, "research", "")
	request.Task = true
	out, err := b.Call(t.Context(), request)
	must(t, err)
	b.server.Expire(receive(t, b.server.Began))
	_, err = b.TaskRequest(t.Context(), request.View, toolcall.Client{MultiRound: true}, "tasks/get", taskParams(t, out.Raw))
	wantUnknownTask(t, err)
	wantExpired(t, b.row(t, out.CallID))

	request = b.order(t, b.process, a, b.c, "research", "") // a client of 2025-11-25 that waits meanwhile
	out, params := b.askForTask(t, b.process, request)
	id, waits, results := receive(t, b.server.Began), make(chan struct{}, 100), make(chan error, 1)
	client := toolcall.Client{Message: func(string, json.RawMessage) { waits <- struct{}{} }}
	go func() {
		_, err := b.HandshakeTask(context.WithoutCancel(t.Context()), request.View, client, "tasks/result", params)
		results <- err
	}()
	receive(t, waits)
	b.server.Expire(id)
	wantUnknownTask(t, receive(t, results))
	wantExpired(t, b.row(t, out.CallID))
}

// TestSweep_EndsTaskAfterItsTTL: a poll in which the server still knows the task keeps it.
func TestSweep_EndsTaskAfterItsTTL(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	request := b.order(t, b.process, b.newTrustedAgent(t, b.c), b.c, "research", "")
	request.Task = true
	out, err := b.Call(t.Context(), request)
	must(t, err)
	b.waitUntil(t, "exists (select from tool_calls where task_expires_at between now() + interval '9 minutes' and now() + interval '10 minutes')")
	expire := func() { b.AsSystem(t, "update tool_calls set task_expires_at = now() - interval '1 second'", nil) }
	expire()
	_, err = b.TaskRequest(t.Context(), request.View, toolcall.Client{MultiRound: true}, "tasks/get", taskParams(t, out.Raw))
	must(t, err)
	b.Sweep(t.Context())
	if row := b.row(t, out.CallID); row.Status != connectors.CallRunning {
		t.Errorf("row = %+v", row)
	}
	expire()
	b.Sweep(t.Context())
	wantExpired(t, b.row(t, out.CallID))
}
