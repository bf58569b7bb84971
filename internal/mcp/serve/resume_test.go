package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"patchbay/internal/mcp/serve"
)

// broken makes a call whose connection breaks after its first notification, and returns the id of that event.
func (p *place) broken(session string, lost <-chan struct{}) string {
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

// dropper is a backend whose calls go on once their client is gone.
func dropper(lost chan<- struct{}, proceed <-chan struct{}) *desk {
	return &desk{answer: func(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
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
		answer, err := r.Ask(ctx, "elicitation/create", nil)
		if err != nil {
			return nil, err
		}
		return json.RawMessage(`{"said":` + string(answer) + `}`), nil
	}}
}

// again asks for what is behind an event.
func again(session, id string) ask {
	return ask{method: "GET", header: map[string]string{"Mcp-Session-Id": session, "Last-Event-ID": id}}
}

func TestLostReplyIsResumedAtAnyProcess(t *testing.T) {
	t.Parallel()
	lost, proceed := make(chan struct{}), make(chan struct{})
	a, b := twins(t, dropper(lost, proceed))
	session := a.session("2025-11-25", `{"elicitation":{}}`)
	for name, at := range map[string]*place{"the same": a, "another": b} {
		last := a.broken(session, lost)
		r := at.send(again(session, last))
		if r.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%s: %d %s", name, r.StatusCode, r.text())
		}
		proceed <- struct{}{}
		q := skipTo(r, "elicitation/create")
		if have := b.send(inSession(session, `{"jsonrpc":"2.0","id":"`+q.ID+`","result":{"a":1}}`)); have.StatusCode != 202 {
			t.Errorf("answered: %d", have.StatusCode)
		}
		event := r.next()
		if string(event.Data) != `{"jsonrpc":"2.0","id":7,"result":{"said":{"a":1}}}` {
			t.Errorf("%s: %s", name, event.Data)
		}
		r.ended()
		before := again(session, last)
		late := at.send(before)
		skipTo(late, "elicitation/create")
		if have := late.message(); have != string(event.Data) {
			t.Errorf("%s, again: %s", name, have)
		}
	}
}

// skipTo reads events until one has the method.
func skipTo(r *reply, method string) asked {
	r.t.Helper()
	for {
		if q := question(r.t, r); q.Method == method {
			return q
		}
	}
}

func TestStreamsAreResumedByTheirOwnSessionsAlone(t *testing.T) {
	t.Parallel()
	lost, proceed := make(chan struct{}), make(chan struct{})
	p := open(t, dropper(lost, proceed))
	session := p.session("2025-11-25", `{"elicitation":{}}`)
	last := p.broken(session, lost)
	for name, a := range map[string]ask{
		"another session": again(p.session("2025-11-25", "{}"), last),
		"another caller":  {method: "GET", path: "/you", header: map[string]string{"Mcp-Session-Id": p.sessionOf("/you"), "Last-Event-ID": last}},
		"an invented id":  again(session, "x.1"),
		"no id":           again(session, "1"),
	} {
		if r := p.send(a); r.StatusCode != 400 {
			t.Errorf("%s: %d", name, r.StatusCode)
		}
	}
	r := p.send(again(session, last))
	proceed <- struct{}{}
	skipTo(r, "elicitation/create")
}

func TestLostConnectionDoesNotCancelARequestOfTheHandshakeEra(t *testing.T) {
	t.Parallel()
	began, proceed, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	p := open(t, &desk{answer: func(ctx context.Context, _ *serve.Request) (json.RawMessage, error) {
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
	p.goes(ctx, inSession(p.session("2025-11-25", "{}"), callWait))
	close(proceed)
	if err := <-ended; err != nil {
		t.Errorf("ended by %v", err)
	}
}
