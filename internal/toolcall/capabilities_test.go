package toolcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"patchbay/internal/mcp"
	"patchbay/internal/toolcall"
)

// askWith is a server that sends one request during a call, and returns the error code of the response, 0 for
// none.
func askWith(question string) func(w http.ResponseWriter, r *http.Request, m message) bool {
	answers := make(chan int, 1)
	return func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch {
		case m.Method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":7,%s}\n\n", question)
			w.(http.Flusher).Flush()
			select {
			case code := <-answers:
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"error\":%d}}\n\n", m.ID, code)
			case <-r.Context().Done():
			}
			return true
		case m.Method == "" && string(m.ID) == "7":
			w.WriteHeader(http.StatusAccepted)
			answers <- m.Error.Code
			return true
		}
		return false
	}
}

func TestInputRequest_OnlyDeclaredCapabilities(t *testing.T) {
	t.Parallel()
	const (
		form     = `"method":"elicitation/create","params":{"message":"?"}`
		url      = `"method":"elicitation/create","params":{"mode":"url"}`
		sampling = `"method":"sampling/createMessage","params":{}`
		roots    = `"method":"roots/list"`
		list     = `"method":"tools/list"`
	)
	every := `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{},"tools":{}}`
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	for _, tc := range []struct {
		can, question string
		reaches       bool
	}{
		{every, form, true}, {every, url, true}, {every, sampling, true}, {every, roots, true}, {every, list, false}, {every, `"method":"ping"`, false},
		{`{"elicitation":{}}`, form, true}, {`{"elicitation":{}}`, url, false}, {`{"elicitation":{"url":{}}}`, form, false},
		{`{"elicitation":{}}`, sampling, false}, {`{"sampling":{}}`, roots, false}, {`{"roots":{}}`, form, false}, {``, form, false},
	} {
		b.remote.set(askWith(tc.question))
		request, got := b.order(t, b.process, a, c, "search", ""), false
		request.Client = toolcall.Client{
			Capabilities: json.RawMessage(tc.can),
			SendRequest: func(context.Context, mcp.InputRequest) (json.RawMessage, error) {
				got = true
				return json.RawMessage(`{}`), nil
			},
		}
		out, err := b.Call(t.Context(), request)
		must(t, err)
		want := `{"content":[],"error":-32601}`
		if tc.reaches || tc.question == `"method":"ping"` {
			want = `{"content":[],"error":0}`
		}
		if got != tc.reaches || string(out.Raw) != want {
			t.Errorf("%s, of a client with %q: asked %t, the server got %s", tc.question, tc.can, got, out.Raw)
		}
	}
}
