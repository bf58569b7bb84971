package toolcall_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/toolcall"
)

// askTwice is a server that sends two requests during a call, and returns the responses.
func askTwice() func(w http.ResponseWriter, r *http.Request, m message) bool {
	answers := make(chan string, 2)
	return func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch {
		case m.Method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			responses := make([]string, 2)
			for i := range responses {
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"elicitation/create\",\"params\":{\"message\":\"%d?\"}}\n\n", 100+i, i)
				w.(http.Flusher).Flush()
				select {
				case responses[i] = <-answers:
				case <-r.Context().Done():
					return true
				}
			}
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"said\":[%s]}}\n\n", m.ID, strings.Join(responses, ","))
			return true
		case m.Method == "" && len(m.ID) == 3:
			w.WriteHeader(http.StatusAccepted)
			answers <- string(m.Result)
			return true
		}
		return false
	}
}

// serverRequest is an InputRequired result.
type serverRequest struct {
	ResultType    string
	RequestState  json.RawMessage
	InputRequests map[string]struct {
		Method string
		Params struct{ Message string }
	}
}

// deliverResponse returns the outcome's question, and the order that answers it.
func deliverResponse(t *testing.T, out toolcall.Outcome, request toolcall.CallRequest, answer string) (string, toolcall.CallRequest) {
	t.Helper()
	var q serverRequest
	must(t, json.Unmarshal(out.Raw, &q))
	if !out.InputRequired || q.ResultType != "input_required" || len(q.InputRequests) != 1 {
		t.Fatalf("outcome = %s", out.Raw)
	}
	for key, r := range q.InputRequests {
		request.Input = &mcp.Input{State: q.RequestState, Responses: json.RawMessage(fmt.Sprintf(`{%q:{"is":%q}}`, key, answer))}
		return r.Method + " " + r.Params.Message, request
	}
	return "", request
}

func (b *bench) modernOrder(t *testing.T, p *process, a connectors.Agent, c connectors.Connector) toolcall.CallRequest {
	t.Helper()
	request := b.order(t, p, a, c, "search", `{"q":"x"}`)
	request.MultiRound, request.Capabilities = true, json.RawMessage(`{"elicitation":{}}`)
	return request
}

func TestMultiRound_ModernClientLegacyServer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	other := b.newProcess(t, b.newInstance(t))
	for name, processes := range map[string][2]*process{"at one process": {b.process, b.process}, "at another": {other, b.process}, "at both": {b.process, other}} {
		b.remote.set(askTwice())
		first := b.modernOrder(t, b.process, a, c)
		out, err := b.Call(t.Context(), first)
		must(t, err)
		question, second := deliverResponse(t, out, first, "one")
		if question != "elicitation/create 0?" {
			t.Errorf("%s: %s", name, question)
		}
		if out, err = processes[0].Call(t.Context(), second); err != nil {
			t.Fatal(name, err)
		}
		question, third := deliverResponse(t, out, first, "two")
		if question != "elicitation/create 1?" {
			t.Errorf("%s: %s", name, question)
		}
		if out, err = processes[1].Call(t.Context(), third); err != nil {
			t.Fatal(name, err)
		}
		if !strings.Contains(string(out.Raw), `"said":[{"is":"one"},{"is":"two"}]`) {
			t.Errorf("%s: %s", name, out.Raw)
		}
		if row := b.row(t, out.CallID); row.Status != connectors.CallSuccess {
			t.Errorf("row = %+v", row)
		}
	}
	b.remote.wantCalls(t, 3)
}

// Two processes may read the result, so its memory is not shared. This server asks on the standalone stream, so
// that its response could be lent.
func TestMultiRound_ResultIsNotLent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	called, answered := make(chan struct{}), make(chan struct{})
	b.remote.set(func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			select {
			case <-called:
				fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":100,\"method\":\"elicitation/create\",\"params\":{\"message\":\"0?\"}}\n\n")
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			case <-r.Context().Done():
			}
		case m.Method == "tools/call":
			close(called)
			<-answered
			reply(w, m, `{"content":[{"type":"text","text":"`+strings.Repeat("a", 8<<10)+`"}]}`)
		case m.Method == "" && len(m.ID) == 3:
			w.WriteHeader(http.StatusAccepted)
			close(answered)
		default:
			return false
		}
		return true
	})
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	first := b.modernOrder(t, b.process, a, c)
	first.AllowPooled = true
	out, err := b.Call(t.Context(), first)
	must(t, err)
	_, second := deliverResponse(t, out, first, "one")
	out, err = b.Call(t.Context(), second)
	must(t, err)
	if out.PooledResult() != nil || len(out.Raw) < 8<<10 {
		t.Errorf("%d bytes, lent: %v", len(out.Raw), out.PooledResult() != nil)
	}
}

func TestMultiRound_QuestionStaysOpenUntilAnswered(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	b.remote.set(askTwice())
	request := b.modernOrder(t, b.process, a, c)
	out, err := b.Call(t.Context(), request)
	must(t, err)
	_, next := deliverResponse(t, out, request, "x")
	otherAgent := b.modernOrder(t, b.process, b.newTrustedAgent(t, c), c)
	otherAgent.Input = next.Input
	if _, err := b.Call(t.Context(), otherAgent); !isBadArguments(err) {
		t.Errorf("another agent goes on with it: %v", err)
	}
	next.Input.Responses = json.RawMessage(`{}`)
	reopened, err := b.Call(t.Context(), next)
	must(t, err)
	if question, _ := deliverResponse(t, reopened, request, "x"); question != "elicitation/create 0?" {
		t.Errorf("asked %s", question)
	}
	b.history.Flush(t.Context())
	call, err := b.Cancel(context.WithoutCancel(t.Context()), b.actor(connectors.RoleMember), out.CallID)
	if err != nil || call.Status != connectors.CallCancelled {
		t.Errorf("call = %+v, %v", call, err)
	}
	_, err = b.Call(t.Context(), next)
	wantRefused(t, err, toolcall.CodeCancelled)
}

func isBadArguments(err error) bool {
	_, ok := errors.AsType[*toolcall.InvalidArgumentsError](err)
	return ok
}

func TestMultiRound_OpenQuestionsArePerAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	b.remote.set(func(w http.ResponseWriter, r *http.Request, m message) bool {
		if m.Method == "tools/call" {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":100,\"method\":\"elicitation/create\",\"params\":{\"message\":\"0?\"}}\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
		return m.Method == "tools/call" || m.Method == ""
	})
	silent := b.modernOrder(t, b.process, b.newTrustedAgent(t, c), c)
	for range 8 { // the maximum
		out, err := b.Call(t.Context(), silent)
		must(t, err)
		deliverResponse(t, out, silent, "")
	}
	other := b.modernOrder(t, b.process, b.newTrustedAgent(t, c), c)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out, err := b.Call(ctx, other)
	must(t, err)
	if question, _ := deliverResponse(t, out, other, ""); question != "elicitation/create 0?" {
		t.Errorf("asked %s", question)
	}
}
