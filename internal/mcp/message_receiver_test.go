package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

// TestMessageReceiver_BetweenCalls: log messages of the server's own stream are for the oldest call of a client, and between
// its calls for its receiver. A call in a session that others share gets none of them.
func TestMessageReceiver_BetweenCalls(t *testing.T) {
	t.Parallel()
	sent, began, release := make(chan string), make(chan struct{}), make(chan struct{})
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"GET": func(w http.ResponseWriter, r *http.Request, _ mcptest.Call) {
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
			for {
				select {
				case data := <-sent:
					_, _ = io.WriteString(w, mcptest.Event(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"`+data+`"}}`))
					_ = http.NewResponseController(w).Flush()
				case <-r.Context().Done():
					return
				}
			}
		},
		"tools/call": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			if strings.Contains(string(c.Params), "hold") {
				began <- struct{}{}
				select {
				case <-release:
				case <-r.Context().Done():
				}
			}
			mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, `{"content":[]}`) })(w, r, c)
		},
	}})
	s := dial(t, mcp.Target{URL: up.URL, Era: mcp.EraHandshake})
	received := make(chan string, 10)
	record := func(who string) func(mcp.Message) {
		return func(m mcp.Message) {
			var params struct{ Data string }
			_ = json.Unmarshal(m.Params, &params)
			received <- who + " " + params.Data
		}
	}
	between := mcp.MessageReceiver{Key: "client", Receive: record("between")}
	send := func(data, want string) {
		t.Helper()
		sent <- data
		if got := <-received; got != want+" "+data {
			t.Errorf("%s went to %q, want %s", data, got, want)
		}
	}
	if _, err := s.Call(t.Context(), mcp.Call{Name: "greet", BetweenCalls: between}); err != nil {
		t.Fatal(err)
	}
	send("one", "between")
	ended := make(chan error)
	for i, call := range []mcp.Call{
		{Name: "hold", OwnStreamOnly: true}, {Name: "hold", BetweenCalls: between}, {Name: "hold", BetweenCalls: between},
	} {
		call.Message = record(fmt.Sprint("call ", i))
		go func() {
			_, err := s.Call(t.Context(), call)
			ended <- err
		}()
		<-began
	}
	send("two", "call 1")
	send("three", "call 1")
	close(release)
	for range 3 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	send("four", "between")
}
