package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

func newResultHandler(raw string) mcptest.Handler {
	return mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, raw) })
}

func newCallScript(modern bool, answer mcptest.Handler) mcptest.Script {
	return mcptest.Script{
		Modern: modern, SessionID: "s", Tools: []string{mcptest.Tool("a")}, On: map[string]mcptest.Handler{"tools/call": answer},
	}
}

func startCallServer(t testing.TB, modern bool, answer mcptest.Handler) *mcptest.Server {
	t.Helper()
	return mcptest.Start(t, newCallScript(modern, answer))
}

func countRequests(up *mcptest.Server, method string) int {
	n := 0
	for _, m := range up.Methods() {
		if m == method {
			n++
		}
	}
	return n
}

func TestCall_ResultIsByteForByte(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		raw := `{ "content":[{"type":"text","text":"\u00fc"}],  "isError" : true, "structuredContent":{"n":9007199254740993} }`
		up := startCallServer(t, modern, newResultHandler(raw))
		got, err := dial(t, mcp.Target{URL: up.URL}).Call(t.Context(), mcp.Call{
			Name: "a", Arguments: json.RawMessage(`{ "n": 9007199254740993 }`), Meta: json.RawMessage(`{"traceparent":"00-1"}`),
		})
		if err != nil || string(got.Raw) != raw || !got.IsError || got.Task != nil || got.InputRequired != nil {
			t.Fatalf("%+v, error %v", got, err)
		}
		calls := up.Calls()
		sent := string(calls[len(calls)-1].Params)
		if !strings.HasPrefix(sent, `{"name":"a","arguments":{ "n": 9007199254740993 },"_meta":{"traceparent":"00-1"`) {
			t.Errorf("params %s", sent)
		}
	}
}

func newMessagingHandler(says ...string) mcptest.Handler {
	return func(w http.ResponseWriter, _ *http.Request, c mcptest.Call) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, text := range says {
			_, _ = io.WriteString(w, mcptest.Event(strings.ReplaceAll(text, "ID", string(c.ID))))
		}
		_, _ = io.WriteString(w, mcptest.Event(mcptest.Result(c, `{"content":[]}`)))
	}
}

func TestCall_DeliversProgressAndMessages(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		up := startCallServer(t, modern, newMessagingHandler(
			`{"method":"notifications/progress","params":{"progressToken":ID,"progress":1,"total":2,"message":"half"}}`,
			`{"method":"notifications/message","params":{"level":"info","data":"hello"}}`,
			`{"method":"notifications/progress","params":{"progressToken":4711,"progress":1}}`,
			`{"method":"notifications/progress","params":{"progressToken":ID,"progress":2}}`,
		))
		var notes []mcp.ProgressNotification
		var messages []string
		_, err := dial(t, mcp.Target{URL: up.URL}).Call(t.Context(), mcp.Call{
			Name:     "a",
			Progress: func(n mcp.ProgressNotification) { notes = append(notes, n) },
			Message:  func(m mcp.Message) { messages = append(messages, m.Method+string(m.Params)) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]mcp.ProgressNotification{{Progress: 1, Total: 2, Message: "half"}, {Progress: 2}}, notes); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{`notifications/message{"level":"info","data":"hello"}`}, messages); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
	}
}

func newAskingScript(question string) (script mcptest.Script, answers chan string) {
	answers = make(chan string, 1)
	return mcptest.Script{SessionID: "s", On: map[string]mcptest.Handler{
		"tools/call": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, mcptest.Event(question))
			_ = http.NewResponseController(w).Flush()
			select {
			case text := <-answers:
				_, _ = io.WriteString(w, mcptest.Event(mcptest.Result(c, text)))
			case <-r.Context().Done():
			}
		},
		"": func(w http.ResponseWriter, _ *http.Request, c mcptest.Call) {
			answers <- fmt.Sprintf(`{"id":%s,"result":%s,"error":%s}`, c.ID, nullIfEmpty(c.Result), nullIfEmpty(c.Error))
			w.WriteHeader(http.StatusAccepted)
		},
	}}, answers
}

func nullIfEmpty(raw json.RawMessage) string {
	if raw == nil {
		return "null"
	}
	return string(raw)
}

func TestCall_AnswersServerRequests(t *testing.T) {
	t.Parallel()
	answer := func(asked mcp.InputRequest) (json.RawMessage, error) {
		if asked.Method != "elicitation/create" {
			return nil, errors.New("no")
		}
		return asked.Params, nil
	}
	for name, c := range map[string]struct {
		question, want string
		answer         func(mcp.InputRequest) (json.RawMessage, error)
	}{
		"by the caller":  {`{"id":"q","method":"elicitation/create","params":{"x":1}}`, `{"id":"q","result":{"x":1},"error":null}`, answer},
		"with a refusal": {`{"id":"q","method":"roots/list"}`, `{"id":"q","result":null,"error":{"code":-32601,"message":"Method not found"}}`, answer},
		"by nobody":      {`{"id":7,"method":"elicitation/create"}`, `{"id":7,"result":null,"error":{"code":-32601,"message":"Method not found"}}`, nil},
		"by a panic": {
			`{"id":"q","method":"elicitation/create"}`, `{"id":"q","result":null,"error":{"code":-32603,"message":"Internal error"}}`,
			func(mcp.InputRequest) (json.RawMessage, error) { panic("of a test") },
		},
		"with a sign of life": {`{"id":7,"method":"ping"}`, `{"id":7,"result":{},"error":null}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, _ := newAskingScript(c.question)
			up := mcptest.Start(t, script)
			got, err := dial(t, mcp.Target{URL: up.URL}).Call(t.Context(), mcp.Call{Name: "a", Answer: c.answer})
			if err != nil || string(got.Raw) != c.want {
				t.Errorf("%+v, error %v", got, err)
			}
		})
	}
}

const asksTwoThings = `{"resultType":"input_required","requestState":"s\u0031","inputRequests":{` +
	`"one":{"method":"elicitation/create","params":{"a":1}},"two":{"method":"roots/list"}}}`

func TestCall_InputRequiredIsReturned(t *testing.T) {
	t.Parallel()
	up := startCallServer(t, true, mcptest.First(1, newResultHandler(asksTwoThings), newResultHandler(`{"content":[]}`)))
	s := dial(t, mcp.Target{URL: up.URL})
	first, err := s.Call(t.Context(), mcp.Call{Name: "a"})
	if err != nil || first.InputRequired == nil {
		t.Fatalf("%+v, error %v", first, err)
	}
	want := &mcp.InputRequired{State: json.RawMessage(`"s\u0031"`), Requests: []mcp.KeyedRequest{
		{Key: "one", InputRequest: mcp.InputRequest{Method: "elicitation/create", Params: json.RawMessage(`{"a":1}`)}},
		{Key: "two", InputRequest: mcp.InputRequest{Method: "roots/list"}},
	}}
	if diff := cmp.Diff(want, first.InputRequired); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	input := &mcp.Input{State: first.InputRequired.State, Responses: json.RawMessage(`{"one":{},"two":{}}`)}
	second, err := s.Call(t.Context(), mcp.Call{Name: "a", Input: input})
	if err != nil || second.InputRequired != nil {
		t.Errorf("%+v, error %v", second, err)
	}
	calls := up.Calls()
	if got := string(calls[len(calls)-1].Params); !strings.HasPrefix(got, `{"name":"a","inputResponses":{"one":{},"two":{}},"requestState":"s\u0031","_meta":`) {
		t.Errorf("params %s", got)
	}
}

func TestCall_InputRequiredIsAnswered(t *testing.T) {
	t.Parallel()
	up := startCallServer(t, true, mcptest.First(2, newResultHandler(asksTwoThings), newResultHandler(`{"content":[]}`)))
	asked := 0
	got, err := dial(t, mcp.Target{URL: up.URL}).Call(t.Context(), mcp.Call{Name: "a", Answer: func(mcp.InputRequest) (json.RawMessage, error) {
		asked++
		return json.RawMessage(`{}`), nil
	}})
	if err != nil || got.InputRequired != nil || asked != 4 || countRequests(up, "tools/call") != 3 {
		t.Errorf("%+v after %d questions and %v, error %v", got, asked, up.Methods(), err)
	}
}

func TestCall_InputRoundsAreBounded(t *testing.T) {
	t.Parallel()
	up := startCallServer(t, true, newResultHandler(asksTwoThings))
	s := dial(t, mcp.Target{URL: up.URL})
	_, err := s.Call(t.Context(), mcp.Call{Name: "a", Answer: func(mcp.InputRequest) (json.RawMessage, error) { return json.RawMessage(`{}`), nil }})
	if f := newErrorFacts(t, err); f.Detail != "keeps asking for input" || countRequests(up, "tools/call") != 16 {
		t.Errorf("%+v", f)
	}
	no := errors.New("no")
	got, err := s.Call(t.Context(), mcp.Call{Name: "a", Answer: func(mcp.InputRequest) (json.RawMessage, error) { return nil, no }})
	if f := newErrorFacts(t, err); f.Reason != mcp.ReasonInput || !errors.Is(err, no) || got.InputRequired == nil {
		t.Errorf("%+v, %+v", got, f)
	}
}

func TestCall_IsNotSentTwice(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]mcptest.Handler{
		"500": mcptest.Status(500, ""), "429": mcptest.Status(429, ""), "a cut connection": cutConnection,
		"a cut stream":           mcptest.Status(200, ": ping\n\n", "Content-Type", "text/event-stream"),
		"401 naming the session": mcptest.Status(401, "session expired"),
		"no response":            func(http.ResponseWriter, *http.Request, mcptest.Call) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := startCallServer(t, false, answer)
			_, err := dial(t, mcp.Target{URL: up.URL, Retries: 5}).Call(t.Context(), mcp.Call{Name: "a"})
			if newErrorFacts(t, err); countRequests(up, "tools/call") != 1 {
				t.Errorf("%v, error %v", up.Methods(), err)
			}
		})
	}
}

func TestCall_LostSessionIsReopened(t *testing.T) {
	t.Parallel()
	up := startCallServer(t, false, mcptest.First(1, mcptest.Status(404, ""), newResultHandler(`{"content":[]}`)))
	result, err := dial(t, mcp.Target{URL: up.URL}).Call(t.Context(), mcp.Call{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if !result.NewSession || countRequests(up, "tools/call") != 2 || countRequests(up, "initialize") != 2 {
		t.Errorf("%v", up.Methods())
	}
	up = startCallServer(t, false, mcptest.Status(404, ""))
	_, err = dial(t, mcp.Target{URL: up.URL}).Call(t.Context(), mcp.Call{Name: "a"})
	if f := newErrorFacts(t, err); f.HTTP != 404 || countRequests(up, "tools/call") != 2 {
		t.Errorf("%+v after %v", f, up.Methods())
	}
}

func TestCall_ConcurrentCallsShareRenewal(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	lost := true
	var up *mcptest.Server
	up = mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"initialize": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			w.Header().Set("Mcp-Session-Id", fmt.Sprintf("s-%d", c.N))
			up.Default(w, r, c)
		},
		"tools/call": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			mu.Lock()
			gone := lost && c.Header.Get("Mcp-Session-Id") == "s-1"
			mu.Unlock()
			if gone {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			newResultHandler(string(c.Params))(w, r, c)
		},
	}})
	s := dial(t, mcp.Target{URL: up.URL})
	var calls sync.WaitGroup
	for i := range 50 {
		calls.Go(func() {
			want := fmt.Sprintf(`{"name":"a","arguments":{"n":%d}}`, i)
			got, err := s.Call(t.Context(), mcp.Call{Name: "a", Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))})
			if err != nil || string(got.Raw) != want {
				t.Errorf("%+v, error %v", got, err)
			}
		})
	}
	calls.Wait()
	if n := countRequests(up, "initialize"); n != 2 {
		t.Errorf("%d sessions were opened", n)
	}
}

func TestCall_CancelledContextSendsCancelled(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			began := make(chan struct{})
			cancelled := make(chan struct{})
			up, client := inMemory(t, newCallScript(modern, func(_ http.ResponseWriter, r *http.Request, _ mcptest.Call) {
				close(began)
				<-r.Context().Done() // the client closed the stream
				close(cancelled)
			}))
			s, err := client.Dial(t.Context(), mcp.Target{URL: up.URL})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-began
				cancel()
			}()
			_, err = s.Call(ctx, mcp.Call{Name: "a"})
			if f := newErrorFacts(t, err); f.Reason != mcp.ReasonUnreachable {
				t.Errorf("%+v", f)
			}
			<-cancelled
			s.Close(t.Context())
			if n := countRequests(up, "notifications/cancelled"); (n == 0) != modern {
				t.Errorf("modern %v: %d notifications", modern, n)
			}
		})
	}
}

func TestClose_CancelsRunningCalls(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	up := startCallServer(t, false, func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		close(began)
		mcptest.Hang(w, r, c)
	})
	s := dial(t, mcp.Target{URL: up.URL})
	go func() {
		<-began
		s.Close(t.Context())
	}()
	_, err := s.Call(t.Context(), mcp.Call{Name: "a"})
	newErrorFacts(t, err)
	_, err = s.Call(t.Context(), mcp.Call{Name: "a"})
	newErrorFacts(t, err)
}

func TestTask_IsPolled(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{Modern: true, On: map[string]mcptest.Handler{
		"tools/call":   newResultHandler(`{"resultType":"task","taskId":"t-1","status":"working","ttlMs":60000,"pollIntervalMs":5}`),
		"tasks/get":    newResultHandler(`{"resultType":"complete","taskId":"t-1","status":"completed","ttlMs":null,"result":{"content":[]}}`),
		"tasks/update": newResultHandler(`{"resultType":"complete"}`),
		"tasks/cancel": newResultHandler(`{"resultType":"complete"}`),
	}})
	s := dial(t, mcp.Target{URL: up.URL})
	got, err := s.Call(t.Context(), mcp.Call{Name: "a"})
	if err != nil || got.Task == nil || got.Task.ID != "t-1" || got.Task.PollInterval.Milliseconds() != 5 {
		t.Fatalf("%+v, error %v", got, err)
	}
	task, err := s.Task(t.Context(), [16]byte{}, "t-1")
	if err != nil || task.Status != "completed" || string(task.Result) != `{"content":[]}` {
		t.Errorf("%+v, error %v", task, err)
	}
	if err := errors.Join(s.AnswerTask(t.Context(), "t-1", json.RawMessage(`{"a":{}}`)), s.CancelTask(t.Context(), "t-1")); err != nil {
		t.Error(err)
	}
	for _, call := range up.Calls() {
		if strings.HasPrefix(call.Method, "tasks/") && call.Header.Get("Mcp-Name") != "t-1" {
			t.Errorf("%s names %q", call.Method, call.Header.Get("Mcp-Name"))
		}
	}
}
