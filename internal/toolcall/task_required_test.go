package toolcall_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolcall"
)

// taskBench is a world with a server of 2025-11-25 that runs tools as tasks.
type taskBench struct {
	*bench
	server *mcptest.TaskServer
	c      connectors.Connector
}

func newTaskBench(t *testing.T, capabilities string, opts ...func(*connectors.Draft)) *taskBench {
	t.Helper()
	b := &taskBench{bench: newBench(t), server: mcptest.StartTaskServer(t, capabilities)}
	b.c = b.Connector(t, append([]func(*connectors.Draft){func(d *connectors.Draft) {
		d.URL, d.Auth.Type, d.Timeout = b.server.URL, connectors.AuthNone, time.Minute
	}}, opts...)...)
	if capabilities == "" {
		capabilities = mcptest.TaskCapabilities
	}
	b.syncWith(t, b.c, capabilities, mcptest.TaskTools...)
	return b
}

// syncWith stores a sync that found these capabilities and tools.
func (b *bench) syncWith(t *testing.T, c connectors.Connector, capabilities string, raws ...string) {
	t.Helper()
	var defs []connectors.Definition
	for _, raw := range raws {
		var named struct{ Name string }
		must(t, json.Unmarshal([]byte(raw), &named))
		defs = append(defs, fixture.DefinitionOf(named.Name, raw))
	}
	found := fixture.FirstResult(defs...)
	found.Capabilities = []byte(capabilities)
	_, err := b.Door().Syncs().Finish(t.Context(), b.Run(t, c.ID).ID, found)
	must(t, err)
}

// callAsync makes a call in the background.
func callAsync(t *testing.T, p *process, request toolcall.CallRequest) chan callAnswer {
	answers := make(chan callAnswer, 1)
	ctx := context.WithoutCancel(t.Context())
	go func() {
		out, err := p.Call(ctx, request)
		answers <- callAnswer{out, err}
	}()
	return answers
}

const researchResult = `{"content":[{"type":"text","text":"found"}],"x":12345678901234567890}`

func TestRequiredTask_AwaitedForPlainClient(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	request := b.order(t, b.process, b.newTrustedAgent(t, b.c), b.c, "research", "")
	progress := make(chan string, 100)
	request.Progress = func(params json.RawMessage) { progress <- string(params) }
	answers := callAsync(t, b.process, request)
	id := receive(t, b.server.Began)
	b.server.Say(id, "half")
	for !strings.Contains(receive(t, progress), `"message":"half"`) {
		continue
	}
	list, err := b.Door().Calls().TaskCalls(t.Context(), store.CallFilter{})
	must(t, err)
	if len(list.Items) != 1 || list.Items[0].Status != connectors.CallRunning || !strings.Contains(string(list.Items[0].Task), `"ttlMs":600000`) {
		t.Errorf("while it runs, the tasks are %+v", list.Items)
	}
	b.server.Complete(id, strings.Replace(researchResult, "{", `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"`+id+`"}},`, 1))
	got := receive(t, answers)
	must(t, got.err)
	if got.out.Task || string(got.out.Raw) != researchResult {
		t.Errorf("raw = %s", got.out.Raw)
	}
	row := b.row(t, got.out.CallID)
	if row.Status != connectors.CallSuccess || string(row.Content) != `[{"type":"text","text":"found"}]` || !strings.Contains(string(row.Task), `"completed"`) || strings.Contains(string(row.Task), id) {
		t.Errorf("row = %+v with the task %s", row, row.Task)
	}
	if calls := b.server.Calls(); len(calls) != 1 || !strings.Contains(string(calls[0]), `"task":{"ttl":3600000}`) {
		t.Errorf("calls = %s", calls)
	}
}

func TestRequiredTask_RefusedIfServerDeclaresNone(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, `{"tools":{}}`)
	_, err := b.Call(t.Context(), b.order(t, b.process, b.newTrustedAgent(t, b.c), b.c, "research", ""))
	if r := asRefusal(t, err, toolcall.CodeUpstream); !strings.Contains(r.Sentence, "requires a task") {
		t.Errorf("it says %q", r.Sentence)
	}
	if calls := b.server.Calls(); len(calls) != 0 {
		t.Errorf("it was sent: %s", calls)
	}
}

func TestRequiredTask_CancelledWithItsCall(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	request := b.order(t, b.process, b.newTrustedAgent(t, b.c), b.c, "research", "")
	progress := make(chan struct{}, 100)
	request.Progress = func(json.RawMessage) { progress <- struct{}{} }
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	results := make(chan error, 1)
	go func() {
		_, err := b.Call(ctx, request)
		results <- err
	}()
	id := receive(t, b.server.Began)
	receive(t, progress) // the task is known
	cancel()
	wantRefused(t, receive(t, results), toolcall.CodeCancelled)
	if cancelled := receive(t, b.server.Cancelled); cancelled != id {
		t.Errorf("cancelled %s", cancelled)
	}
}

func TestRequiredTask_FailureIsThatOfTheCall(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	request := b.order(t, b.process, b.newTrustedAgent(t, b.c), b.c, "research", "")
	failWith := func(outcome string) callAnswer {
		answers := callAsync(t, b.process, request)
		b.server.Fail(receive(t, b.server.Began), outcome)
		return receive(t, answers)
	}
	got := failWith(`"result":{"content":[],"isError":true}`)
	must(t, got.err)
	if row := b.row(t, got.out.CallID); !got.out.IsError || row.Outcome != connectors.OutcomeToolError {
		t.Errorf("row = %+v", row)
	}
	got = failWith(`"error":{"code":-32050,"message":"remote words"}`)
	if failure, ok := errors.AsType[*mcp.Error](got.err); !ok || failure.RPC == nil || failure.RPC.Code != -32050 {
		t.Errorf("err = %v", got.err)
	}
	answers := callAsync(t, b.process, request)
	b.server.Expire(receive(t, b.server.Began))
	if failure, ok := errors.AsType[*mcp.Error](receive(t, answers).err); !ok || failure.RPC == nil || failure.RPC.Code != mcp.CodeInvalidParams {
		t.Errorf("expired: %v", failure)
	}
}

const question = `"message":"Which one?","requestedSchema":{"type":"object","properties":{}}`

// answerQuestions lets the client of a request answer elicitations; each one's params are sent to asked.
func answerQuestions(client *toolcall.Client, asked chan<- string) {
	client.Capabilities = json.RawMessage(`{"elicitation":{}}`)
	client.SendRequest = func(_ context.Context, r mcp.InputRequest) (json.RawMessage, error) {
		asked <- r.Method + string(r.Params)
		return json.RawMessage(`{"action":"accept","content":{}}`), nil
	}
}

func TestRequiredTask_AsksPlainClient(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	request := b.order(t, b.process, b.newTrustedAgent(t, b.c), b.c, "research", "")
	asked := make(chan string, 1)
	answerQuestions(&request.Client, asked)
	answers := callAsync(t, b.process, request)
	id := receive(t, b.server.Began)
	if answer := receive(t, b.server.Ask(id, question)); !strings.Contains(string(answer), `"accept"`) {
		t.Errorf("answer = %s", answer)
	}
	if got := receive(t, asked); !strings.HasPrefix(got, "elicitation/create") || strings.Contains(got, id) {
		t.Errorf("asked %s", got)
	}
	b.server.Complete(id, researchResult)
	got := receive(t, answers)
	must(t, got.err)
	if string(got.out.Raw) != researchResult {
		t.Errorf("raw = %s", got.out.Raw)
	}
	request.SendRequest, request.Capabilities = nil, nil
	answers = callAsync(t, b.process, request)
	id = receive(t, b.server.Began)
	b.server.Ask(id, question)
	wantRefused(t, receive(t, answers).err, toolcall.CodeUpstream)
	if cancelled := receive(t, b.server.Cancelled); cancelled != id {
		t.Errorf("cancelled %s", cancelled)
	}
}

// TestRequiredTask_EndsWithOpenQuestion: the task ends while the client has not answered.
func TestRequiredTask_EndsWithOpenQuestion(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	request := b.order(t, b.process, b.newTrustedAgent(t, b.c), b.c, "research", "")
	asked := make(chan string, 1)
	answerQuestions(&request.Client, asked)
	request.SendRequest = func(ctx context.Context, r mcp.InputRequest) (json.RawMessage, error) {
		asked <- r.Method
		<-ctx.Done()
		return nil, ctx.Err()
	}
	answers := callAsync(t, b.process, request)
	id := receive(t, b.server.Began)
	b.server.Ask(id, question)
	receive(t, asked)
	b.server.Complete(id, researchResult)
	got := receive(t, answers)
	must(t, got.err)
	if string(got.out.Raw) != researchResult {
		t.Errorf("raw = %s", got.out.Raw)
	}
}

// taskParams are params with the id in a task's result.
func taskParams(t *testing.T, raw json.RawMessage) json.RawMessage {
	t.Helper()
	var made struct {
		TaskID string
		Task   struct{ TaskID string }
	}
	must(t, json.Unmarshal(raw, &made))
	id := made.TaskID + made.Task.TaskID
	if id == "" || strings.Contains(id, "own-id") {
		t.Fatalf("raw = %s", raw)
	}
	return json.RawMessage(fmt.Sprintf(`{"taskId":%q}`, id))
}

func statusOf(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var task struct{ Status string }
	must(t, json.Unmarshal(raw, &task))
	return task.Status
}

// TestRequiredTask_GivenToModernClient finishes the task in another process, after the first one stopped. The server knows the
// task only in the session of the first.
func TestRequiredTask_GivenToModernClient(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	other := b.newProcess(t, b.newInstance(t))
	a := b.newTrustedAgent(t, b.c)
	request := b.order(t, b.process, a, b.c, "research", "")
	request.Task, request.MultiRound, request.Capabilities = true, true, json.RawMessage(`{"elicitation":{}}`)
	out, err := b.Call(t.Context(), request)
	must(t, err)
	if !out.Task || !strings.HasPrefix(string(out.Raw), `{"resultType":"task",`) || !strings.Contains(string(out.Raw), `"pollIntervalMs":250`) {
		t.Fatalf("raw = %s", out.Raw)
	}
	id, params, client := receive(t, b.server.Began), taskParams(t, out.Raw), toolcall.Client{MultiRound: true}
	b.server.Say(id, "half")
	raw, err := b.TaskRequest(t.Context(), request.View, client, "tasks/get", params)
	must(t, err)
	if statusOf(t, raw) != "working" || !strings.Contains(string(raw), "half") || strings.Contains(string(raw), id) {
		t.Errorf("raw = %s", raw)
	}
	b.stop()
	b.server.Complete(id, researchResult)
	raw, err = other.TaskRequest(t.Context(), request.View, client, "tasks/get", params)
	must(t, err)
	if statusOf(t, raw) != "completed" || !strings.Contains(string(raw), `"result":`+researchResult) {
		t.Errorf("in the other process: %s", raw)
	}
	if row, err := b.Door().Calls().Get(t.Context(), out.CallID); err != nil || row.Status != connectors.CallSuccess || string(row.Content) != `[{"type":"text","text":"found"}]` {
		t.Errorf("row = %+v, %v", row, err)
	}
	if opened, deleted := b.server.Sessions(); opened != 1 || deleted != 0 {
		t.Errorf("%d sessions were opened, %d deleted", opened, deleted)
	}
	if calls := b.server.Calls(); len(calls) != 1 {
		t.Errorf("it ran %d times", len(calls))
	}
	stranger := b.order(t, other, b.newTrustedAgent(t, b.c), b.c, "research", "")
	if _, err := other.TaskRequest(t.Context(), stranger.View, client, "tasks/get", params); fmt.Sprintf("%T", err) != "*toolcall.InvalidArgumentsError" {
		t.Errorf("another agent: %v", err)
	}

	request = b.order(t, other, a, b.c, "either", "")
	request.Task, request.MultiRound = true, true
	out, err = other.Call(t.Context(), request)
	must(t, err)
	if out.Task || !strings.Contains(string(out.Raw), "at once") {
		t.Errorf("where a task is optional: %s", out.Raw)
	}
}

func TestRequiredTask_CancelledByModernClient(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	request := b.order(t, b.process, b.newTrustedAgent(t, b.c), b.c, "research", "")
	request.Task = true
	out, err := b.Call(t.Context(), request)
	must(t, err)
	id, params := receive(t, b.server.Began), taskParams(t, out.Raw)
	_, err = b.TaskRequest(t.Context(), request.View, toolcall.Client{}, "tasks/cancel", params)
	must(t, err)
	if cancelled := receive(t, b.server.Cancelled); cancelled != id {
		t.Errorf("cancelled %s", cancelled)
	}
	raw, err := b.TaskRequest(t.Context(), request.View, toolcall.Client{}, "tasks/get", params)
	must(t, err)
	if row := b.row(t, out.CallID); statusOf(t, raw) != "cancelled" || row.Status != connectors.CallCancelled {
		t.Errorf("raw = %s, row = %+v", raw, row)
	}
	out, err = b.Call(t.Context(), request)
	must(t, err)
	if _, err := b.Cancel(t.Context(), b.actor(connectors.RoleMember), out.CallID); err != nil {
		t.Error(err)
	}
	if cancelled := receive(t, b.server.Cancelled); cancelled != receive(t, b.server.Began) {
		t.Errorf("a person cancelled %s", cancelled)
	}
}
