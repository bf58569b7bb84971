package toolcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/toolcall"
)

// withModernDialer tries the modern era first.
func withModernDialer(o *toolcall.Options) {
	o.Target = func(ctx context.Context, id connectors.TenantID, c connectors.Connector, headers []credentials.Header) (mcp.Target, error) {
		t, err := newTarget(ctx, id, c, headers)
		t.Era = mcp.EraModern
		return t, err
	}
}

// answerModern answers server/discover, and the given methods.
func answerModern(results map[string]func(params string) string) func(w http.ResponseWriter, r *http.Request, m message) bool {
	return func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method == "server/discover" {
			reply(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
			return true
		}
		if result := results[m.Method]; result != nil {
			reply(w, m, result(string(m.Params)))
			return true
		}
		return false
	}
}

// markModern sets the connector's remembered era to modern.
func markModern(request *toolcall.CallRequest) {
	tool := *request.Tool
	tool.Connector = &agentview.ConnectorView{Connector: tool.Connector.Connector, Grant: tool.Connector.Grant, Items: tool.Connector.Items}
	tool.Connector.Connector.Era = string(mcp.EraModern)
	request.Tool = &tool
}

func TestCall_ResumesWithInputResponses(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	b.remote.set(answerModern(map[string]func(string) string{"tools/call": func(params string) string {
		if strings.Contains(params, `"requestState":"the server's"`) && strings.Contains(params, `"inputResponses":{"k":1}`) {
			return `{"resultType":"complete","content":[]}`
		}
		return `{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{}}}, "requestState" : "the server's"}`
	}}))
	request := b.order(t, b.process, a, c, "search", `{"q":"x"}`)
	request.MultiRound, request.Capabilities = true, json.RawMessage(`{"elicitation":{}}`)
	markModern(&request)
	out, err := b.Call(t.Context(), request)
	must(t, err)
	var required struct {
		RequestState  json.RawMessage
		InputRequests json.RawMessage
	}
	must(t, json.Unmarshal(out.Raw, &required))
	if !out.InputRequired || strings.Contains(string(out.Raw), "the server's") || string(required.InputRequests) != `{"k":{"method":"elicitation/create","params":{}}}` {
		t.Fatalf("raw = %s", out.Raw)
	}
	request.Input = &mcp.Input{State: required.RequestState, Responses: json.RawMessage(`{"k":1}`)}
	again, err := b.Call(t.Context(), request)
	must(t, err)
	if again.InputRequired || string(again.Raw) != `{"resultType":"complete","content":[]}` {
		t.Errorf("raw = %s", again.Raw)
	}

	other := request
	other.Arguments = json.RawMessage(`{"q":"another"}`)
	otherAgent := b.order(t, b.process, b.newTrustedAgent(t, c), c, "search", `{"q":"x"}`)
	otherAgent.Input = request.Input
	for name, wrong := range map[string]toolcall.CallRequest{"another call": other, "another agent": otherAgent} {
		if _, err := b.Call(t.Context(), wrong); fmt.Sprintf("%T", err) != "*toolcall.InvalidArgumentsError" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestApproval_ResumedCallIsNotReviewedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	a := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
	b.remote.set(answerModern(map[string]func(string) string{"tools/call": func(params string) string {
		if strings.Contains(params, `"requestState"`) {
			return `{"resultType":"complete","content":[]}`
		}
		return `{"resultType":"input_required","inputRequests":{}, "requestState":"s"}`
	}}))
	answers, id := b.startWaiting(t, a, c, b.process)
	b.approve(t, b.process, id)
	got := receive(t, answers)
	must(t, got.err)
	var required struct{ RequestState json.RawMessage }
	must(t, json.Unmarshal(got.out.Raw, &required))
	request := b.order(t, b.process, a, c, "search", `{"q":"x"}`)
	request.MultiRound, request.NoWait = true, true
	request.Input = &mcp.Input{State: required.RequestState}
	out, err := b.Call(t.Context(), request)
	must(t, err)
	if row := b.row(t, out.CallID); row.ApprovedBy != "Dana" || row.Status != connectors.CallSuccess {
		t.Errorf("row = %+v", row)
	}
}

func TestTask_HandleIsSealedToAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	state, cancelled := "working", make(chan string, 1)
	b.remote.set(answerModern(map[string]func(string) string{
		"tools/call": func(string) string { return `{"resultType":"task","taskId":"own-id","status":"working"}` },
		"tasks/get": func(params string) string {
			if !strings.Contains(params, `"taskId":"own-id"`) {
				return `{}`
			}
			return `{"resultType":"complete","taskId":"own-id","status":"` + state + `","result":{"content":[{"type":"text","text":"done"}]}}`
		},
		"tasks/cancel": func(params string) string {
			cancelled <- params
			return `{"resultType":"complete"}`
		},
	}))
	request := b.order(t, b.process, a, c, "search", "")
	request.Task = true
	out, err := b.Call(t.Context(), request)
	must(t, err)
	var task struct{ TaskID, Status string }
	must(t, json.Unmarshal(out.Raw, &task))
	if !out.Task || strings.Contains(string(out.Raw), "own-id") {
		t.Fatalf("raw = %s", out.Raw)
	}
	params := json.RawMessage(fmt.Sprintf(`{"taskId":%q}`, task.TaskID))
	raw, err := b.TaskRequest(t.Context(), request.View, toolcall.Client{MultiRound: true}, "tasks/get", params)
	must(t, err)
	if row := b.row(t, out.CallID); row.Status != connectors.CallRunning || row.Task == nil || strings.Contains(string(raw), "own-id") {
		t.Errorf("row = %+v, raw = %s", row, raw)
	}
	state = "completed"
	_, err = b.TaskRequest(t.Context(), request.View, toolcall.Client{MultiRound: true}, "tasks/get", params)
	must(t, err)
	if row := b.row(t, out.CallID); row.Status != connectors.CallSuccess || string(row.Content) != `[{"type":"text","text":"done"}]` {
		t.Errorf("row = %+v", row)
	}

	second, err := b.Call(t.Context(), request)
	must(t, err)
	call, err := b.Cancel(t.Context(), b.actor(connectors.RoleMember), second.CallID)
	must(t, err)
	if call.Status != connectors.CallCancelled {
		t.Errorf("call = %+v", call)
	}
	select {
	case params := <-cancelled:
		if !strings.Contains(params, `"taskId":"own-id"`) {
			t.Errorf("tasks/cancel of %s", params)
		}
	default:
		t.Error("the server was not asked to give the task up")
	}
}

func TestCapabilities_ServerRequestOnlyIfDeclared(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	many := make([]string, 17)
	for i := range many {
		many[i] = fmt.Sprintf(`"k%d":{"method":"elicitation/create"}`, i)
	}
	for name, tc := range map[string]struct {
		requests string
		allowed  bool
	}{
		"what it answers":          {`"inputRequests":{"k":{"method":"elicitation/create","params":{"mode":"form"}}}`, true},
		"nothing but to come back": {`"x":1`, true},
		"what it does not answer":  {`"inputRequests":{"k":{"method":"elicitation/create","params":{}},"l":{"method":"sampling/createMessage","params":{}}}`, false},
		"another form of it":       {`"inputRequests":{"k":{"method":"elicitation/create","params":{"mode":"url"}}}`, false},
		"no request that there is": {`"inputRequests":{"k":{"method":"tools/call","params":{}}}`, false},
		"two readings":             {`"inputRequests":{},"inputRequests":{"k":{"method":"sampling/createMessage","params":{}}}`, false},
		"another member's name":    {`"inputRequests":{"k":{"Method":"elicitation/create","method":"roots/list"}}`, false},
		"no object":                {`"inputRequests":["k"]`, false},
		"params that are none":     {`"inputRequests":{"k":{"method":"elicitation/create","params":"x"}}`, false},
		"too many":                 {`"inputRequests":{` + strings.Join(many, ",") + `}`, false},
		"too long":                 {`"inputRequests":{"k":{"method":"elicitation/create","params":{"message":"` + strings.Repeat("x", 1<<20) + `"}}}`, false},
	} {
		answer := func(string) string { return `{"resultType":"input_required",` + tc.requests + `,"requestState":"s"}` }
		b.remote.set(answerModern(map[string]func(string) string{"tools/call": answer, "prompts/get": answer}))
		request := b.order(t, b.process, a, c, "search", `{"q":"x"}`)
		request.MultiRound, request.Capabilities = true, json.RawMessage(`{"elicitation":{"form":{}}}`)
		markModern(&request)
		out, err := b.Call(t.Context(), request)
		if tc.allowed && (err != nil || !out.InputRequired) {
			t.Errorf("%s: %v", name, err)
		} else if !tc.allowed {
			asRefusal(t, err, toolcall.CodeUpstream)
		}
		q := toolcall.UpstreamRequest{View: request.View, Connector: request.Tool.Connector, Kind: connectors.CallPrompt, Name: "p", Method: "prompts/get", Client: request.Client}
		if _, err = b.SendRequest(t.Context(), q); tc.allowed != (err == nil) {
			t.Errorf("%s, of a prompt: %v", name, err)
		}
		q.MultiRound = false
		if _, err = b.SendRequest(t.Context(), q); err == nil {
			t.Errorf("%s: a client of before is asked", name)
		}
	}
}

func TestTask_InputOnlyForDeclaredCapabilities(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	inputRequests := `"inputRequests":{"k":{"method":"sampling/createMessage","params":{}}}`
	b.remote.set(answerModern(map[string]func(string) string{
		"tools/call": func(string) string { return `{"resultType":"task","taskId":"own-id","status":"working"}` },
		"tasks/get": func(string) string {
			return `{"resultType":"complete","taskId":"own-id","status":"input_required",` + inputRequests + `}`
		},
	}))
	request := b.order(t, b.process, b.newTrustedAgent(t, c), c, "search", "")
	request.Task = true
	out, err := b.Call(t.Context(), request)
	must(t, err)
	handle, _ := strings.CutPrefix(string(out.Raw), `{"resultType":"task","taskId":`)
	params := json.RawMessage(`{"taskId":` + strings.Split(handle, ",")[0] + `}`)
	for capabilities, allowed := range map[string]bool{`{"sampling":{}}`: true, `{"elicitation":{}}`: false, "": false} {
		client := toolcall.Client{MultiRound: true, Capabilities: json.RawMessage(capabilities)}
		raw, err := b.TaskRequest(t.Context(), request.View, client, "tasks/get", params)
		if allowed != (err == nil) || allowed && !strings.Contains(string(raw), inputRequests) {
			t.Errorf("%s: %s, %v", capabilities, raw, err)
		}
	}
	_, err = b.TaskRequest(t.Context(), request.View, toolcall.Client{Capabilities: json.RawMessage(`{"sampling":{}}`)}, "tasks/get", params)
	wantRefused(t, err, toolcall.CodeUpstream)
}

func TestRequest_CancelledAtModernServer(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	request := b.order(t, b.process, b.newTrustedAgent(t, c), c, "search", "")
	answer, arrived, closed := answerModern(nil), make(chan struct{}), make(chan struct{})
	b.remote.set(func(w http.ResponseWriter, r *http.Request, m message) bool {
		if m.Method != "prompts/get" {
			return answer(w, r, m)
		}
		close(arrived)
		<-r.Context().Done()
		close(closed)
		return true
	})
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan error, 1)
	go func() {
		_, err := b.SendRequest(ctx, toolcall.UpstreamRequest{
			View: request.View, Connector: request.Tool.Connector, Kind: connectors.CallPrompt, Name: "p", Method: "prompts/get",
			Client: toolcall.Client{Progress: func(json.RawMessage) {}},
		})
		results <- err
	}()
	receive(t, arrived)
	cancel()
	wantRefused(t, receive(t, results), toolcall.CodeCancelled)
	receive(t, closed)
}

// resumeOrder is the order that resumes a call after the one question of its server.
func (b *bench) resumeOrder(t *testing.T, c connectors.Connector, a connectors.Agent, call func(toolcall.CallRequest) toolcall.Outcome) toolcall.CallRequest {
	t.Helper()
	b.remote.set(answerModern(map[string]func(string) string{"tools/call": func(params string) string {
		if strings.Contains(params, `"requestState"`) {
			return `{"resultType":"complete","content":[]}`
		}
		return `{"resultType":"input_required","inputRequests":{}, "requestState":"s"}`
	}}))
	request := b.order(t, b.process, a, c, "search", `{"q":"x"}`)
	request.MultiRound, request.NoWait = true, true
	markModern(&request)
	var required struct{ RequestState json.RawMessage }
	must(t, json.Unmarshal(call(request).Raw, &required))
	request.Input = &mcp.Input{State: required.RequestState}
	return request
}

func TestApproval_StateIsUsedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, withModernDialer)
	other := b.newProcess(t, b.newInstance(t), withModernDialer)
	c := b.connector(t, b.remote)
	a := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
	request := b.resumeOrder(t, c, a, func(toolcall.CallRequest) toolcall.Outcome {
		answers, id := b.startWaiting(t, a, c, b.process)
		b.approve(t, b.process, id)
		got := receive(t, answers)
		must(t, got.err)
		return got.out
	})
	b.remote.wantCalls(t, 1)
	answers := make(chan error, 6)
	for i := range cap(answers) {
		p := []*process{b.process, other}[i%2]
		go func() {
			_, err := p.Call(context.WithoutCancel(t.Context()), request)
			answers <- err
		}()
	}
	accepted := 0
	for range cap(answers) {
		if err := receive(t, answers); err == nil {
			accepted++
		} else if fmt.Sprintf("%T", err) != "*toolcall.InvalidArgumentsError" {
			t.Error(err)
		}
	}
	if accepted != 1 {
		t.Errorf("%d of six requests with one approval were made", accepted)
	}
	b.remote.wantCalls(t, 2)
}

func TestState_ExpiresAfterHourAndCountsEachUse(t *testing.T) {
	t.Parallel()
	b := newQuotaBench(t, withModernDialer)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	b.setQuota(t, c, connectors.Quota{PerDay: 3})
	request := b.resumeOrder(t, c, a, func(o toolcall.CallRequest) toolcall.Outcome {
		out, err := b.Call(t.Context(), o)
		must(t, err)
		return out
	})
	for range 2 {
		_, err := b.Call(t.Context(), request)
		must(t, err)
	}
	_, err := b.Call(t.Context(), request)
	wantRefused(t, err, toolcall.CodeQuotaExceeded)
	b.setQuota(t, c, connectors.Quota{})
	b.clock.advance(time.Hour)
	if _, err := b.Call(t.Context(), request); fmt.Sprintf("%T", err) != "*toolcall.InvalidArgumentsError" {
		t.Errorf("after an hour: %v", err)
	}
	b.remote.wantCalls(t, 3)
}
