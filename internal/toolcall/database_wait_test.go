package toolcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// waitForWaiters returns when n requests wait for the database.
func (b *bench) waitForWaiters(t *testing.T, n int) {
	t.Helper()
	for b.St.WaitStats().Waiting < n {
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("no request waits for the database")
		}
	}
}

func TestCall_QuestionWaitsForDatabase(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	order := b.order(t, b.process, a, c, "search", `{"q":"x"}`)
	waiting := make(chan struct{}, 100)
	order.Wait, order.Progress = &store.WaitBudget{Tenant: b.Tenant}, func(json.RawMessage) { waiting <- struct{}{} }
	reopen := b.CloseDatabase(t)
	done := make(chan callAnswer, 1)
	go func() {
		out, err := b.Call(context.WithoutCancel(t.Context()), order)
		done <- callAnswer{out, err}
	}()
	b.waitForWaiters(t, 1)
	reopen()
	<-waiting
	b.approve(t, b.process, b.onlyWaiting(t))
	<-b.remote.arrived
	if got := <-done; got.err != nil || got.out.IsError {
		t.Errorf("outcome = %+v, %v", got.out, got.err)
	}
	b.remote.wantCalls(t, 1)
}

func TestTaskRequest_WaitsForDatabase(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	order := b.order(t, b.process, a, c, "search", "")
	order.Task = true
	out, err := b.Call(t.Context(), order)
	must(t, err)
	var task struct{ TaskID, Status string }
	must(t, json.Unmarshal(out.Raw, &task))
	reopen := b.CloseDatabase(t)
	read := make(chan json.RawMessage, 1)
	go func() {
		client := toolcall.Client{MultiRound: true, Wait: &store.WaitBudget{Tenant: b.Tenant}}
		raw, err := b.TaskRequest(context.WithoutCancel(t.Context()), order.View, client, "tasks/get", fmt.Appendf(nil, `{"taskId":%q}`, task.TaskID))
		if err != nil {
			t.Error(err)
		}
		read <- raw
	}()
	b.waitForWaiters(t, 1)
	reopen()
	if raw := <-read; json.Unmarshal(raw, &task) != nil || task.Status != "working" {
		t.Errorf("raw = %s", raw)
	}
}

func TestCall_BegunTaskIsRecordedAfterOutage(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	b.remote.set(answerModern(map[string]func(string) string{
		"tools/call": func(string) string {
			time.AfterFunc(300*time.Millisecond, b.CloseDatabase(t))
			return `{"resultType":"task","taskId":"own-id","status":"working"}`
		},
	}))
	order := b.order(t, b.process, a, c, "search", "")
	order.Task, order.Wait = true, &store.WaitBudget{Tenant: b.Tenant}
	out, err := b.Call(t.Context(), order)
	must(t, err)
	if row := b.row(t, out.CallID); !out.Task || row.Status != connectors.CallRunning || row.Task == nil {
		t.Errorf("outcome = %s, row = %+v", out.Raw, row)
	}
}
