package toolcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// waitForWaiters returns when n requests wait for the database.
func (b *bench) waitForWaiters(t *testing.T, n int) {
	t.Helper()
	for end := time.After(patience); b.St.WaitStats().Waiting < n; {
		select {
		case <-time.After(time.Millisecond):
		case <-end:
			t.Fatal("no request waits for the database")
		}
	}
}

func TestCall_QuestionWaitsForDatabase(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	request := b.order(t, b.process, a, c, "search", `{"q":"x"}`)
	waiting := make(chan struct{}, 100)
	request.Wait, request.Progress = &store.WaitBudget{Tenant: b.Tenant}, func(json.RawMessage) { waiting <- struct{}{} }
	reopen := b.CloseDatabase(t)
	done := make(chan callAnswer, 1)
	go func() {
		out, err := b.Call(context.WithoutCancel(t.Context()), request)
		done <- callAnswer{out, err}
	}()
	b.waitForWaiters(t, 1)
	reopen()
	receive(t, waiting)
	b.approve(t, b.process, b.onlyWaiting(t))
	receive(t, b.remote.arrived)
	if got := receive(t, done); got.err != nil || got.out.IsError {
		t.Errorf("outcome = %+v, %v", got.out, got.err)
	}
	b.remote.wantCalls(t, 1)
}

func TestTaskRequest_WaitsForDatabase(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	request := b.order(t, b.process, a, c, "search", "")
	request.Task = true
	out, err := b.Call(t.Context(), request)
	must(t, err)
	var task struct{ TaskID, Status string }
	must(t, json.Unmarshal(out.Raw, &task))
	reopen := b.CloseDatabase(t)
	read := make(chan json.RawMessage, 1)
	go func() {
		client := toolcall.Client{MultiRound: true, Wait: &store.WaitBudget{Tenant: b.Tenant}}
		raw, err := b.TaskRequest(context.WithoutCancel(t.Context()), request.View, client, "tasks/get", fmt.Appendf(nil, `{"taskId":%q}`, task.TaskID))
		if err != nil {
			t.Error(err)
		}
		read <- raw
	}()
	b.waitForWaiters(t, 1)
	reopen()
	if raw := receive(t, read); json.Unmarshal(raw, &task) != nil || task.Status != "working" {
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
	request := b.order(t, b.process, a, c, "search", "")
	request.Task, request.Wait = true, &store.WaitBudget{Tenant: b.Tenant}
	out, err := b.Call(t.Context(), request)
	must(t, err)
	if row := b.row(t, out.CallID); !out.Task || row.Status != connectors.CallRunning || row.Task == nil {
		t.Errorf("outcome = %s, row = %+v", out.Raw, row)
	}
}

func TestAccountRequest_WaitsForDatabase(t *testing.T) {
	t.Parallel()
	var closeDatabase func()
	b := newBench(t, func(o *toolcall.Options) {
		o.AccountPage = func(context.Context, connectors.TenantID, connectors.Connector, connectors.Agent, string) string {
			closeDatabase() // just before the request is stored
			return "https://patchbay.example.com/account"
		}
	})
	c := b.connector(t, b.remote, perAgent)
	a := b.newTrustedAgent(t, c)
	for name, client := range map[string]toolcall.Client{"multi-round": {MultiRound: true}, "session": {Session: "s"}} {
		request := b.order(t, b.process, a, c, "search", `{"q":"x"}`)
		request.Client, request.Capabilities, request.Wait = client, json.RawMessage(`{"elicitation":{"url":{}}}`), &store.WaitBudget{Tenant: b.Tenant}
		closeDatabase = func() {
			reopen := b.CloseDatabase(t)
			go func() {
				b.waitForWaiters(t, 1)
				reopen()
			}()
		}
		out, err := b.Call(t.Context(), request)
		if client.MultiRound {
			must(t, err)
			if !out.InputRequired {
				t.Errorf("%s: answered %s", name, out.Raw)
			}
		} else if r := asRefusal(t, err, toolcall.CodeCredentialRequired); r.Elicit == nil {
			t.Errorf("%s: no page is sent: %+v", name, r)
		}
		requests := 0
		b.AsSystem(t, "select count(*) from account_requests where session = $1", []any{client.Session}, &requests)
		if requests != 1 {
			t.Errorf("%s: %d requests are stored", name, requests)
		}
	}
}

// blockRow locks a row until the database is closed, and returns a function that waits for a statement to be
// blocked.
func (b *bench) blockRow(t *testing.T, sql string, args ...any) (waitForBlocked func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), b.URL)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	_, err = conn.Exec(t.Context(), "begin; select set_config('app.system', 'on', true)")
	must(t, err)
	_, err = conn.Exec(t.Context(), sql, args...)
	must(t, err)
	return func() { b.waitUntil(t, "exists (select from pg_locks where not granted)") }
}

func TestTaskCancel_WaitsForDatabase(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	request := b.order(t, b.process, a, c, "search", "")
	request.Task = true
	out, err := b.Call(t.Context(), request)
	must(t, err)
	var task struct{ TaskID string }
	must(t, json.Unmarshal(out.Raw, &task))
	waitForBlocked := b.blockRow(t, "select from approvals where id = $1 for update", out.CallID.UUID)
	done := make(chan error, 1)
	go func() {
		client := toolcall.Client{MultiRound: true, Wait: &store.WaitBudget{Tenant: b.Tenant}}
		_, err := b.TaskRequest(context.WithoutCancel(t.Context()), request.View, client, "tasks/cancel", fmt.Appendf(nil, `{"taskId":%q}`, task.TaskID))
		done <- err
	}()
	waitForBlocked()
	reopen := b.CloseDatabase(t)
	b.waitForWaiters(t, 1)
	reopen()
	must(t, receive(t, done))
	if row := b.row(t, out.CallID); row.Status != connectors.CallCancelled {
		t.Errorf("row = %+v", row)
	}
}

func TestCancelledApprovalWait_WaitsForDatabase(t *testing.T) {
	t.Parallel()
	b, c, a := newApprovalBench(t)
	request := b.order(t, b.process, a, c, "search", `{"q":"x"}`)
	waiting := make(chan struct{}, 100)
	request.Progress = func(json.RawMessage) { waiting <- struct{}{} }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan callAnswer, 1)
	go func() {
		out, err := b.Call(ctx, request)
		done <- callAnswer{out, err}
	}()
	receive(t, waiting)
	id := b.onlyWaiting(t)
	reopen := b.CloseDatabase(t)
	cancel()
	b.waitForWaiters(t, 1)
	reopen()
	wantRefused(t, receive(t, done).err, toolcall.CodeCancelled)
	if row := b.row(t, id); row.Status != connectors.CallCancelled {
		t.Errorf("row = %+v", row)
	}
}

func TestMultiRound_AnswerWaitsForDatabase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	other := b.newProcess(t, b.newInstance(t))
	b.remote.set(askTwice())
	first := b.modernOrder(t, b.process, b.newTrustedAgent(t, c), c)
	out, err := b.Call(t.Context(), first)
	must(t, err)
	_, second := deliverResponse(t, out, first, "one")
	second.Wait = &store.WaitBudget{Tenant: b.Tenant}
	reopen := b.CloseDatabase(t)
	done := make(chan callAnswer, 1)
	go func() {
		out, err := other.Call(context.WithoutCancel(t.Context()), second)
		done <- callAnswer{out, err}
	}()
	b.waitForWaiters(t, 1)
	reopen()
	got := receive(t, done)
	must(t, got.err)
	if question, _ := deliverResponse(t, got.out, first, "two"); question != "elicitation/create 1?" {
		t.Errorf("asked %s", question)
	}
}

func TestMultiRound_CancelWaitsForDatabase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	other := b.newProcess(t, b.newInstance(t))
	b.remote.set(askTwice())
	first := b.modernOrder(t, b.process, b.newTrustedAgent(t, c), c)
	out, err := b.Call(t.Context(), first)
	must(t, err)
	_, second := deliverResponse(t, out, first, "one")
	second.Input.Responses = json.RawMessage(`{}`) // the question stays open
	b.losesMail.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan callAnswer, 1)
	go func() {
		out, err := other.Call(ctx, second)
		done <- callAnswer{out, err}
	}()
	b.waitForMail(t, "talk-")
	reopen := b.CloseDatabase(t)
	cancel()
	time.AfterFunc(300*time.Millisecond, reopen)
	wantRefused(t, receive(t, done).err, toolcall.CodeCancelled)
	b.reconnect(t, "cancel-")
	receive(t, b.remote.cancelled)
}

func TestMultiRound_RepeatedAnswerIsTakenOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	other := b.newProcess(t, b.newInstance(t))
	b.remote.set(askTwice())
	first := b.modernOrder(t, b.process, b.newTrustedAgent(t, c), c)
	out, err := b.Call(t.Context(), first)
	must(t, err)
	_, second := deliverResponse(t, out, first, "one")
	b.losesMail.Store(true)
	done := make(chan callAnswer, 1)
	go func() {
		out, err := other.Call(context.WithoutCancel(t.Context()), second)
		done <- callAnswer{out, err}
	}()
	b.waitForMail(t, "talk-")
	var sent struct {
		id, agent uuid.UUID
		box       string
		sealed    []byte
	}
	b.AsSystem(t, "select id, agent_id, box, sealed from gateway_mail", []any{}, &sent.id, &sent.agent, &sent.box, &sent.sealed)
	b.reconnect(t, "talk-")
	must(t, receive(t, done).err)
	b.AsSystem(t, "insert into gateway_mail (tenant_id, id, agent_id, box, sealed, expires_at) values ($1, $2, $3, $4, $5, now() + interval '1 minute')",
		[]any{b.Tenant.UUID, sent.id, sent.agent, sent.box, sent.sealed})
	b.waitUntil(t, "not exists (select from gateway_mail where box like 'talk-%')")
	b.history.Flush(t.Context())
	_, err = b.Cancel(t.Context(), b.actor(connectors.RoleMember), out.CallID)
	must(t, err)
	b.stop() // waits for replies
	replies := 0
	b.AsSystem(t, "select count(*) from gateway_mail where box like 'told-%'", nil, &replies)
	if replies != 0 {
		t.Errorf("%d more replies are sent", replies)
	}
}
