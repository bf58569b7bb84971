package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"patchbay/internal/mcp/serve"
)

// breakStream makes a call whose connection breaks after the first notification, and returns the id of that
// event.
func (p *testServer) breakStream(session string, lost <-chan struct{}) string {
	p.t.Helper()
	ctx, leave := context.WithCancel(p.t.Context())
	a := inSession(session, callWait)
	a.ctx = ctx
	r := p.send(a)
	event := r.next()
	leave()
	<-lost
	return event.ID
}

// newDropBackend is a backend whose calls go on after a disconnect.
func newDropBackend(lost chan<- struct{}, proceed <-chan struct{}) *testBackend {
	return &testBackend{answer: func(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
		for i := 1; ; i++ {
			if err := r.Notify("notifications/progress", json.RawMessage(fmt.Sprintf(`{"progress":%d}`, i))); err != nil {
				break
			}
		}
		lost <- struct{}{}
		select {
		case <-proceed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		answer, err := r.SendRequest(ctx, "elicitation/create", nil)
		if err != nil {
			return nil, err
		}
		return json.RawMessage(`{"said":` + string(answer) + `}`), nil
	}}
}

func resumeRequest(session, id string) testRequest {
	return testRequest{method: "GET", header: map[string]string{"Mcp-Session-Id": session, "Last-Event-ID": id}}
}

func TestResume_LostReplyAtAnyProcess(t *testing.T) {
	t.Parallel()
	lost, proceed := make(chan struct{}), make(chan struct{})
	a, b := newTwoServers(t, newDropBackend(lost, proceed))
	session := a.startSession("2025-11-25", `{"elicitation":{}}`)
	for name, at := range map[string]*testServer{"the same": a, "another": b} {
		last := a.breakStream(session, lost)
		r := at.send(resumeRequest(session, last))
		if r.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%s: %d %s", name, r.StatusCode, r.text())
		}
		proceed <- struct{}{}
		q := skipToRequest(r, "elicitation/create")
		if have := b.send(inSession(session, `{"jsonrpc":"2.0","id":"`+q.ID+`","result":{"a":1}}`)); have.StatusCode != 202 {
			t.Errorf("answered: %d", have.StatusCode)
		}
		event := r.next()
		if string(event.Data) != `{"jsonrpc":"2.0","id":7,"result":{"said":{"a":1}}}` {
			t.Errorf("%s: %s", name, event.Data)
		}
		r.expectEnd()
		before := resumeRequest(session, last)
		late := at.send(before)
		skipToRequest(late, "elicitation/create")
		if have := late.message(); have != string(event.Data) {
			t.Errorf("%s, again: %s", name, have)
		}
	}
}

func skipToRequest(r *testReply, method string) clientRequest {
	r.t.Helper()
	for {
		if q := readClientRequest(r.t, r); q.Method == method {
			return q
		}
	}
}

func TestResume_ForeignSessionIsRefused(t *testing.T) {
	t.Parallel()
	lost, proceed := make(chan struct{}), make(chan struct{})
	p := newTestServer(t, newDropBackend(lost, proceed))
	session := p.startSession("2025-11-25", `{"elicitation":{}}`)
	last := p.breakStream(session, lost)
	for name, a := range map[string]testRequest{
		"another session": resumeRequest(p.startSession("2025-11-25", "{}"), last),
		"another caller":  {method: "GET", path: "/you", header: map[string]string{"Mcp-Session-Id": p.startSessionAt("/you"), "Last-Event-ID": last}},
		"an invented id":  resumeRequest(session, "x.1"),
		"no id":           resumeRequest(session, "1"),
	} {
		if r := p.send(a); r.StatusCode != 400 {
			t.Errorf("%s: %d", name, r.StatusCode)
		}
	}
	r := p.send(resumeRequest(session, last))
	proceed <- struct{}{}
	skipToRequest(r, "elicitation/create")
}

func TestHandshake_LostConnectionDoesNotCancel(t *testing.T) {
	t.Parallel()
	began, proceed, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	p := newTestServer(t, &testBackend{answer: func(ctx context.Context, _ *serve.Request) (json.RawMessage, error) {
		close(began)
		<-proceed
		ended <- ctx.Err()
		return json.RawMessage("{}"), nil
	}})
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-began
		leave()
	}()
	p.sendAndCancel(ctx, inSession(p.startSession("2025-11-25", "{}"), callWait))
	close(proceed)
	if err := <-ended; err != nil {
		t.Errorf("ended by %v", err)
	}
}
