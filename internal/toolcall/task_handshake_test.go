package toolcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/toolcall"
)

// askForTask makes a call as a client of 2025-11-25 that asks for a task, and returns the params with its id.
func (b *bench) askForTask(t *testing.T, p *process, request toolcall.CallRequest) (toolcall.Outcome, json.RawMessage) {
	t.Helper()
	request.Task, request.HandshakeTasks = true, true
	out, err := p.Call(t.Context(), request)
	must(t, err)
	var made struct {
		Task struct{ Status, CreatedAt, LastUpdatedAt string }
	}
	must(t, json.Unmarshal(out.Raw, &made))
	if !out.Task || made.Task.Status != "working" || made.Task.CreatedAt == "" || made.Task.LastUpdatedAt == "" || !strings.Contains(string(out.Raw), `"ttl":`) {
		t.Fatalf("raw = %s", out.Raw)
	}
	return out, taskParams(t, out.Raw)
}

func TestHandshakeClient_TaskOfHandshakeServer(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	other := b.newProcess(t, b.newInstance(t))
	a := b.newTrustedAgent(t, b.c)
	for i, tool := range []string{"research", "either"} {
		request := b.order(t, b.process, a, b.c, tool, "")
		request.TaskTTL = 2 * time.Minute
		asked, states := make(chan string, 1), make(chan string, 100)
		answerQuestions(&request.Client, asked)
		out, params := b.askForTask(t, b.process, request)
		id := receive(t, b.server.Began)
		if calls := b.server.Calls(); !strings.Contains(string(calls[i]), `"task":{"ttl":120000}`) {
			t.Errorf("call = %s", calls[i])
		}
		raw, err := other.HandshakeTask(t.Context(), request.View, toolcall.Client{}, "tasks/get", params)
		must(t, err)
		if statusOf(t, raw) != "working" || !strings.Contains(string(raw), `"ttl":600000,"pollInterval":250`) {
			t.Errorf("raw = %s", raw)
		}
		client := request.Client
		client.Message = func(method string, params json.RawMessage) { states <- method + string(params) }
		results := make(chan callAnswer, 1)
		go func() {
			raw, err := other.HandshakeTask(context.WithoutCancel(t.Context()), request.View, client, "tasks/result", params)
			results <- callAnswer{toolcall.Outcome{Raw: raw}, err}
		}()
		var handle struct{ TaskID string }
		must(t, json.Unmarshal(params, &handle))
		if answer := receive(t, b.server.Ask(id, question)); !strings.Contains(string(answer), `"accept"`) {
			t.Errorf("answer = %s", answer)
		}
		if got := receive(t, asked); !strings.Contains(got, `"io.modelcontextprotocol/related-task":{"taskId":"`+handle.TaskID+`"}`) {
			t.Errorf("asked %s", got)
		}
		b.server.Complete(id, researchResult)
		got := receive(t, results)
		must(t, got.err)
		if want := strings.TrimSuffix(researchResult, "}") + `,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"` + handle.TaskID + `"}}}`; string(got.out.Raw) != want {
			t.Errorf("result = %s", got.out.Raw)
		}
		if state := receive(t, states); !strings.HasPrefix(state, "notifications/tasks/status{") || !strings.Contains(state, handle.TaskID) {
			t.Errorf("notified of %s", state)
		}
		if row := b.row(t, out.CallID); row.Status != connectors.CallSuccess || string(row.Content) != `[{"type":"text","text":"found"}]` {
			t.Errorf("row = %+v", row)
		}
		again, err := b.HandshakeTask(t.Context(), request.View, toolcall.Client{}, "tasks/result", params)
		must(t, err)
		if string(again) != string(got.out.Raw) {
			t.Errorf("again: %s", again)
		}
	}
}

func TestHandshakeClient_TaskOfModernServer(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	b.syncWith(t, c, `{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`, `{"name":"search","inputSchema":{"type":"object"}}`)
	requests := make(chan string, 100)
	b.remote.set(returnTask(requests, `"status":"working"`, `"status":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{}}}`, completedTask))
	request := b.order(t, b.process, b.newTrustedAgent(t, c), c, "search", "")
	asked := make(chan string, 1)
	answerQuestions(&request.Client, asked)
	out, params := b.askForTask(t, b.process, request)
	if sent := receive(t, b.remote.arrived); !strings.Contains(string(sent.Params), `"extensions":{"io.modelcontextprotocol/tasks":{}}`) || !strings.Contains(string(sent.Params), `"elicitation"`) {
		t.Errorf("the server got %s", sent.Params)
	}
	raw, err := b.HandshakeTask(t.Context(), request.View, request.Client, "tasks/result", params)
	must(t, err)
	if !strings.HasPrefix(string(raw), `{"content":[{"type":"text","text":"done"}],"x":12345678901234567890,"_meta"`) || !strings.Contains(receive(t, asked), "related-task") {
		t.Errorf("result = %s", raw)
	}
	if row := b.row(t, out.CallID); row.Status != connectors.CallSuccess || string(row.Content) != `[{"type":"text","text":"done"}]` {
		t.Errorf("row = %+v", row)
	}
	raw, err = b.HandshakeTask(t.Context(), request.View, toolcall.Client{}, "tasks/get", params)
	must(t, err)
	if statusOf(t, raw) != "completed" || strings.Contains(string(raw), "done") {
		t.Errorf("raw = %s", raw)
	}
}

func TestHandshakeClient_PlainResultIsStored(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	other := b.newProcess(t, b.newInstance(t), withModernDialer)
	c := b.connector(t, b.remote)
	b.syncWith(t, c, `{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`, `{"name":"search","inputSchema":{"type":"object"}}`)
	b.remote.set(answerModern(map[string]func(string) string{"tools/call": func(string) string {
		return `{"resultType":"complete","content":[{"type":"text","text":"at once"}],"isError":true}`
	}}))
	request := b.order(t, b.process, b.newTrustedAgent(t, c), c, "search", "")
	out, params := b.askForTask(t, b.process, request)
	if row := b.row(t, out.CallID); row.Outcome != connectors.OutcomeToolError || row.TaskHandle == "" {
		t.Errorf("row = %+v", row)
	}
	raw, err := other.HandshakeTask(t.Context(), request.View, toolcall.Client{}, "tasks/get", params)
	must(t, err)
	if statusOf(t, raw) != "failed" {
		t.Errorf("raw = %s", raw)
	}
	for range 2 {
		raw, err = other.HandshakeTask(t.Context(), request.View, toolcall.Client{}, "tasks/result", params)
		must(t, err)
		if !strings.Contains(string(raw), "at once") || !strings.Contains(string(raw), "related-task") {
			t.Errorf("result = %s", raw)
		}
	}
	if _, err := other.HandshakeTask(t.Context(), request.View, toolcall.Client{}, "tasks/cancel", params); fmt.Sprintf("%T", err) != "*toolcall.InvalidArgumentsError" {
		t.Errorf("an ended task is cancelled: %v", err)
	}
	b.AsSystem(t, "update gateway_mail set expires_at = now()", nil)
	for _, method := range []string{"tasks/get", "tasks/result"} {
		if _, err := b.HandshakeTask(t.Context(), request.View, toolcall.Client{}, method, params); fmt.Sprintf("%T", err) != "*toolcall.InvalidArgumentsError" {
			t.Errorf("expired, %s: %v", method, err)
		}
	}
}

func TestHandshakeClient_ApprovalIsATask(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	other := b.newProcess(t, b.newInstance(t))
	a := b.newGrantedAgent(t, b.c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
	request := b.order(t, b.process, a, b.c, "research", "")
	out, params := b.askForTask(t, b.process, request)
	list, err := b.HandshakeTasks(t.Context(), request.View, toolcall.Client{}, "")
	must(t, err)
	var listed struct {
		Tasks []struct{ TaskID, Status string }
	}
	must(t, json.Unmarshal(list, &listed))
	if len(listed.Tasks) != 1 || listed.Tasks[0].Status != "working" || !strings.Contains(string(params), listed.Tasks[0].TaskID) {
		t.Errorf("list = %s", list)
	}
	results := make(chan callAnswer, 1)
	go func() {
		raw, err := other.HandshakeTask(context.WithoutCancel(t.Context()), request.View, toolcall.Client{}, "tasks/result", params)
		results <- callAnswer{toolcall.Outcome{Raw: raw}, err}
	}()
	b.approve(t, b.process, out.CallID)
	b.server.Complete(receive(t, b.server.Began), researchResult)
	got := receive(t, results)
	must(t, got.err)
	if !strings.Contains(string(got.out.Raw), "found") {
		t.Errorf("result = %s", got.out.Raw)
	}
	out, params = b.askForTask(t, b.process, request)
	raw, err := b.HandshakeTask(t.Context(), request.View, toolcall.Client{}, "tasks/cancel", params)
	must(t, err)
	if row := b.row(t, out.CallID); statusOf(t, raw) != "cancelled" || row.Status != connectors.CallCancelled {
		t.Errorf("raw = %s, row = %+v", raw, row)
	}
}

func TestHandshakeClient_CancelledTaskStaysSo(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	a := b.newTrustedAgent(t, b.c)
	request := b.order(t, b.process, a, b.c, "research", "")
	out, params := b.askForTask(t, b.process, request)
	id := receive(t, b.server.Began)
	raw, err := b.HandshakeTask(t.Context(), request.View, toolcall.Client{}, "tasks/cancel", params)
	must(t, err)
	if row := b.row(t, out.CallID); statusOf(t, raw) != "cancelled" || row.Status != connectors.CallCancelled || receive(t, b.server.Cancelled) != id {
		t.Errorf("raw = %s, row = %+v", raw, row)
	}
	b.server.Complete(id, researchResult) // against the protocol
	raw, err = b.HandshakeTask(t.Context(), request.View, toolcall.Client{}, "tasks/get", params)
	must(t, err)
	if statusOf(t, raw) != "cancelled" {
		t.Errorf("raw = %s", raw)
	}
	if _, err := b.HandshakeTask(t.Context(), request.View, toolcall.Client{}, "tasks/cancel", params); fmt.Sprintf("%T", err) != "*toolcall.InvalidArgumentsError" {
		t.Errorf("cancelled twice: %v", err)
	}
	_, err = b.HandshakeTask(t.Context(), request.View, toolcall.Client{}, "tasks/result", params)
	wantRefused(t, err, toolcall.CodeCancelled)
}

func TestHandshakeClient_TasksAreTheAgentsOwn(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	request := b.order(t, b.process, b.newTrustedAgent(t, b.c), b.c, "research", "")
	stranger := b.order(t, b.process, b.newTrustedAgent(t, b.c), b.c, "research", "")
	_, params := b.askForTask(t, b.process, request)
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		if _, err := b.HandshakeTask(t.Context(), stranger.View, toolcall.Client{}, method, params); fmt.Sprintf("%T", err) != "*toolcall.InvalidArgumentsError" {
			t.Errorf("%s: %v", method, err)
		}
	}
	if list, err := b.HandshakeTasks(t.Context(), stranger.View, toolcall.Client{}, ""); err != nil || string(list) != `{"tasks":[]}` {
		t.Errorf("list = %s, %v", list, err)
	}
	if _, err := b.HandshakeTasks(t.Context(), request.View, toolcall.Client{}, "no cursor"); fmt.Sprintf("%T", err) != "*toolcall.InvalidArgumentsError" {
		t.Errorf("no cursor: %v", err)
	}
	plain := callAsync(t, b.process, request) // a task that Patchbay waits for is not the client's
	receive(t, b.server.Began)
	id := receive(t, b.server.Began)
	for range 50 {
		b.askForTask(t, b.process, request)
		receive(t, b.server.Began)
	}
	b.server.Complete(id, researchResult)
	must(t, receive(t, plain).err)
	ids, cursor := map[string]bool{}, ""
	for pages := 1; ; pages++ {
		raw, err := b.HandshakeTasks(t.Context(), request.View, toolcall.Client{}, cursor)
		must(t, err)
		var page struct {
			Tasks      []struct{ TaskID string }
			NextCursor string
		}
		must(t, json.Unmarshal(raw, &page))
		for _, task := range page.Tasks {
			ids[task.TaskID] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			if pages != 2 || len(ids) != 51 {
				t.Errorf("%d tasks on %d pages", len(ids), pages)
			}
			return
		}
	}
}

// TestHandshakeClient_NewerWaitEndsOlder: a client that lost its connection asks again.
func TestHandshakeClient_NewerWaitEndsOlder(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	request := b.order(t, b.process, b.newTrustedAgent(t, b.c), b.c, "research", "")
	_, params := b.askForTask(t, b.process, request)
	waits := make(chan callAnswer, 2)
	wait := func(states chan struct{}) {
		said := sync.OnceFunc(func() { close(states) })
		client := toolcall.Client{Message: func(string, json.RawMessage) { said() }}
		raw, err := b.HandshakeTask(context.WithoutCancel(t.Context()), request.View, client, "tasks/result", params)
		waits <- callAnswer{toolcall.Outcome{Raw: raw}, err}
	}
	for range 2 {
		states := make(chan struct{})
		go wait(states)
		receive(t, states)
	}
	wantRefused(t, receive(t, waits).err, toolcall.CodeTimeout)
	b.server.Complete(receive(t, b.server.Began), researchResult)
	got := receive(t, waits)
	must(t, got.err)
	if !strings.Contains(string(got.out.Raw), "found") {
		t.Errorf("result = %s", got.out.Raw)
	}
}
