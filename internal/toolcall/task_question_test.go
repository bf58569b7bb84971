package toolcall_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/toolcall"
)

// inputTask is a task in the form of the extension.
type inputTask struct {
	Status        string
	InputRequests map[string]struct {
		Method string
		Params struct {
			Message string
			Meta    json.RawMessage `json:"_meta"`
		}
	}
}

// pollTask polls a task as a client of 2026-07-28 until its status is this one.
func pollTask(t *testing.T, p *process, request toolcall.CallRequest, params json.RawMessage, status string) (task inputTask, raw json.RawMessage) {
	t.Helper()
	for range 1000 {
		var err error
		raw, err = p.TaskRequest(t.Context(), request.View, request.Client, "tasks/get", params)
		must(t, err)
		task = inputTask{}
		must(t, json.Unmarshal(raw, &task))
		if task.Status == status {
			return task, raw
		}
		receive(t, time.After(10*time.Millisecond))
	}
	t.Fatalf("the task is not %s: %s", status, raw)
	return task, raw
}

// answerTask answers the question of a task in this process.
func answerTask(t *testing.T, p *process, request toolcall.CallRequest, params json.RawMessage, key, response string) {
	t.Helper()
	update := fmt.Sprintf(`%s,"inputResponses":{%q:%s}}`, strings.TrimSuffix(string(params), "}"), key, response)
	raw, err := p.TaskRequest(t.Context(), request.View, request.Client, "tasks/update", json.RawMessage(update))
	must(t, err)
	if string(raw) != `{"resultType":"complete"}` {
		t.Errorf("tasks/update: %s", raw)
	}
}

// TestTaskQuestion_ReachesPollingClient has a server of 2025-11-25 ask twice during a task. The client of 2026-07-28 polls and
// answers at any process.
func TestTaskQuestion_ReachesPollingClient(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	other := b.newProcess(t, b.newInstance(t))
	a := b.newTrustedAgent(t, b.c)
	for name, at := range map[string]struct{ polled, seen, answered *process }{
		"at one process":      {b.process, b.process, b.process},
		"answered at another": {b.process, b.process, other},
		"seen at another":     {b.process, other, other},
	} {
		request := b.order(t, b.process, a, b.c, "research", "")
		request.Task, request.MultiRound, request.Capabilities = true, true, json.RawMessage(`{"elicitation":{}}`)
		out, err := b.Call(t.Context(), request)
		must(t, err)
		id, params := receive(t, b.server.Began), taskParams(t, out.Raw)
		for round := range 2 {
			answer := b.server.Ask(id, fmt.Sprintf(`"message":"%d?","requestedSchema":{"type":"object","properties":{}}`, round))
			pollTask(t, at.polled, request, params, "input_required")
			task, raw := pollTask(t, at.seen, request, params, "input_required")
			if len(task.InputRequests) != 1 || strings.Contains(string(raw), id) {
				t.Fatalf("%s: raw = %s", name, raw)
			}
			for key, asked := range task.InputRequests {
				if asked.Method != "elicitation/create" || asked.Params.Message != fmt.Sprintf("%d?", round) || asked.Params.Meta != nil {
					t.Errorf("%s: asked %+v", name, asked)
				}
				answerTask(t, at.answered, request, params, "another", `{}`)
				answerTask(t, at.answered, request, params, key, fmt.Sprintf(`{"action":"accept","content":{"n":%d}}`, round))
			}
			if got := string(receive(t, answer)); got != fmt.Sprintf(`{"action":"accept","content":{"n":%d}}`, round) {
				t.Errorf("%s: the server got %s", name, got)
			}
			pollTask(t, at.seen, request, params, "working")
		}
		b.server.Complete(id, researchResult)
		if _, raw := pollTask(t, at.seen, request, params, "completed"); !strings.Contains(string(raw), "found") {
			t.Errorf("%s: raw = %s", name, raw)
		}
		if row := b.row(t, out.CallID); row.Status != connectors.CallSuccess {
			t.Errorf("row = %+v", row)
		}
	}
	if calls := b.server.Calls(); len(calls) != 3 {
		t.Errorf("%d calls", len(calls))
	}
}

// TestTaskQuestion_NotForOthers: a client gets only questions that it declares, and answers only its own.
func TestTaskQuestion_NotForOthers(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	request := b.order(t, b.process, b.newTrustedAgent(t, b.c), b.c, "research", "")
	request.Task, request.MultiRound, request.Capabilities = true, true, json.RawMessage(`{"elicitation":{}}`)
	out, err := b.Call(t.Context(), request)
	must(t, err)
	id, params := receive(t, b.server.Began), taskParams(t, out.Raw)
	b.server.Ask(id, `"message":"0?"`)
	task, _ := pollTask(t, b.process, request, params, "input_required")
	if len(task.InputRequests) != 1 {
		t.Errorf("task = %+v", task)
	}
	undeclared := toolcall.Client{MultiRound: true, Task: true}
	_, err = b.TaskRequest(t.Context(), request.View, undeclared, "tasks/get", params)
	wantRefused(t, err, toolcall.CodeUpstream)
	stranger := b.order(t, b.process, b.newTrustedAgent(t, b.c), b.c, "research", "")
	if _, err := b.TaskRequest(t.Context(), stranger.View, request.Client, "tasks/update", params); !isBadArguments(err) {
		t.Errorf("another agent answers: %v", err)
	}
	if _, err := b.TaskRequest(t.Context(), request.View, request.Client, "tasks/update", params); !isBadArguments(err) {
		t.Errorf("without responses: %v", err)
	}

	request.Capabilities = nil // then the session declares none
	out, err = b.Call(t.Context(), request)
	must(t, err)
	params = taskParams(t, out.Raw)
	b.server.Ask(receive(t, b.server.Began), `"message":"0?"`)
	raw, err := b.TaskRequest(t.Context(), request.View, request.Client, "tasks/get", params)
	must(t, err)
	if strings.Contains(string(raw), "inputRequests") {
		t.Errorf("raw = %s", raw)
	}
}
