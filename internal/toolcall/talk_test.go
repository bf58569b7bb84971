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

// asksTwice is a server that asks for two things in the middle of a call, and says what it was told.
func asksTwice() func(w http.ResponseWriter, r *http.Request, m message) bool {
	answers := make(chan string, 2)
	return func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch {
		case m.Method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			said := make([]string, 2)
			for i := range said {
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"elicitation/create\",\"params\":{\"message\":\"%d?\"}}\n\n", 100+i, i)
				w.(http.Flusher).Flush()
				select {
				case said[i] = <-answers:
				case <-r.Context().Done():
					return true
				}
			}
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"said\":[%s]}}\n\n", m.ID, strings.Join(said, ","))
			return true
		case m.Method == "" && len(m.ID) == 3:
			w.WriteHeader(http.StatusAccepted)
			answers <- string(m.Result)
			return true
		}
		return false
	}
}

// question is a request for input, as a client of the modern era reads it.
type question struct {
	ResultType    string
	RequestState  json.RawMessage
	InputRequests map[string]struct {
		Method string
		Params struct{ Message string }
	}
}

// asked reads the one question of an outcome, and makes the order that answers it.
func asked(t *testing.T, out toolcall.Outcome, o toolcall.Order, answer string) (string, toolcall.Order) {
	t.Helper()
	var q question
	must(t, json.Unmarshal(out.Raw, &q))
	if !out.InputRequired || q.ResultType != "input_required" || len(q.InputRequests) != 1 {
		t.Fatalf("outcome = %s", out.Raw)
	}
	for key, r := range q.InputRequests {
		o.Input = &mcp.Input{State: q.RequestState, Responses: json.RawMessage(fmt.Sprintf(`{%q:{"is":%q}}`, key, answer))}
		return r.Method + " " + r.Params.Message, o
	}
	return "", o
}

func (b *bench) modernOrder(t *testing.T, p *process, a connectors.Agent, c connectors.Connector) toolcall.Order {
	t.Helper()
	o := b.order(t, p, a, c, "search", `{"q":"x"}`)
	o.MultiRound, o.Capabilities = true, json.RawMessage(`{"elicitation":{}}`)
	return o
}

func TestAModernClientAnswersAServerOfBefore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.trusted(t, c)
	other := b.newProcess(t, b.beating(t))
	for name, at := range map[string][2]*process{"at one process": {b.process, b.process}, "at another": {other, b.process}, "at both": {b.process, other}} {
		b.remote.set(asksTwice())
		first := b.modernOrder(t, b.process, a, c)
		out, err := b.Call(t.Context(), first)
		must(t, err)
		said, second := asked(t, out, first, "one")
		if said != "elicitation/create 0?" {
			t.Errorf("%s: %s", name, said)
		}
		if out, err = at[0].Call(t.Context(), second); err != nil {
			t.Fatal(name, err)
		}
		said, third := asked(t, out, first, "two")
		if said != "elicitation/create 1?" {
			t.Errorf("%s: %s", name, said)
		}
		if out, err = at[1].Call(t.Context(), third); err != nil {
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

// What comes of a talk may be handed out at two processes, so that it stands in nobody's memory but its own. A server that asks on its own
// stream says nothing before its reply, which else is lent.
func TestWhatComesOfATalkIsNotLent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	asks, answered := make(chan struct{}), make(chan struct{})
	b.remote.set(func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			select {
			case <-asks:
				fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":100,\"method\":\"elicitation/create\",\"params\":{\"message\":\"0?\"}}\n\n")
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			case <-r.Context().Done():
			}
		case m.Method == "tools/call":
			close(asks)
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
	a := b.trusted(t, c)
	first := b.modernOrder(t, b.process, a, c)
	first.Lend = true
	out, err := b.Call(t.Context(), first)
	must(t, err)
	_, second := asked(t, out, first, "one")
	out, err = b.Call(t.Context(), second)
	must(t, err)
	if out.Lent() != nil || len(out.Raw) < 8<<10 {
		t.Errorf("%d bytes, lent: %v", len(out.Raw), out.Lent() != nil)
	}
}

func TestAQuestionStaysOpenUntilItIsAnswered(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.trusted(t, c)
	b.remote.set(asksTwice())
	order := b.modernOrder(t, b.process, a, c)
	out, err := b.Call(t.Context(), order)
	must(t, err)
	_, next := asked(t, out, order, "x")
	stranger := b.modernOrder(t, b.process, b.trusted(t, c), c)
	stranger.Input = next.Input
	if _, err := b.Call(t.Context(), stranger); !isBad(err) {
		t.Errorf("another agent goes on with it: %v", err)
	}
	next.Input.Responses = json.RawMessage(`{}`)
	again, err := b.Call(t.Context(), next)
	must(t, err)
	if said, _ := asked(t, again, order, "x"); said != "elicitation/create 0?" {
		t.Errorf("asked %s", said)
	}
	b.history.Written(t.Context())
	call, err := b.Cancel(context.WithoutCancel(t.Context()), b.actor(connectors.RoleMember), out.CallID)
	if err != nil || call.Status != connectors.CallCancelled {
		t.Errorf("call = %+v, %v", call, err)
	}
	_, err = b.Call(t.Context(), next)
	wantRefused(t, err, toolcall.CodeCancelled)
}

func isBad(err error) bool {
	_, ok := errors.AsType[*toolcall.BadArguments](err)
	return ok
}

func TestQuestionsThatOneAgentLeavesOpenAreItsOwn(t *testing.T) {
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
	silent := b.modernOrder(t, b.process, b.trusted(t, c), c)
	for range 8 { // as many as there may be
		out, err := b.Call(t.Context(), silent)
		must(t, err)
		asked(t, out, silent, "")
	}
	other := b.modernOrder(t, b.process, b.trusted(t, c), c)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out, err := b.Call(ctx, other)
	must(t, err)
	if said, _ := asked(t, out, other, ""); said != "elicitation/create 0?" {
		t.Errorf("asked %s", said)
	}
}
