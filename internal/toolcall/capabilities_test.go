package toolcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"patchbay/internal/toolcall"
)

// asksThis is a server that asks one thing in the middle of a call, and says which error it got, 0 being none.
func asksThis(question string) func(w http.ResponseWriter, r *http.Request, m message) bool {
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

func TestAClientIsAskedWhatItSaysThatItAnswersAndNothingElse(t *testing.T) {
	t.Parallel()
	const (
		form   = `"method":"elicitation/create","params":{"message":"?"}`
		link   = `"method":"elicitation/create","params":{"mode":"url"}`
		sample = `"method":"sampling/createMessage","params":{}`
		roots  = `"method":"roots/list"`
		list   = `"method":"tools/list"`
	)
	all := `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{},"tools":{}}`
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.trusted(t, c)
	for _, tc := range []struct {
		can, question string
		reaches       bool
	}{
		{all, form, true}, {all, link, true}, {all, sample, true}, {all, roots, true}, {all, list, false}, {all, `"method":"ping"`, false},
		{`{"elicitation":{}}`, form, true}, {`{"elicitation":{}}`, link, false}, {`{"elicitation":{"url":{}}}`, form, false},
		{`{"elicitation":{}}`, sample, false}, {`{"sampling":{}}`, roots, false}, {`{"roots":{}}`, form, false}, {``, form, false},
	} {
		b.remote.set(asksThis(tc.question))
		order, asked := b.order(t, b.process, a, c, "search", ""), false
		order.Client = toolcall.Client{
			Capabilities: json.RawMessage(tc.can),
			Ask: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
				asked = true
				return json.RawMessage(`{}`), nil
			},
		}
		out, err := b.Call(t.Context(), order)
		must(t, err)
		want := `{"content":[],"error":-32601}`
		if tc.reaches || tc.question == `"method":"ping"` {
			want = `{"content":[],"error":0}`
		}
		if asked != tc.reaches || string(out.Raw) != want {
			t.Errorf("%s, of a client with %q: asked %t, the server got %s", tc.question, tc.can, asked, out.Raw)
		}
	}
}
