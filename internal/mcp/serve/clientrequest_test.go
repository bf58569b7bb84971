package serve_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/mcp/serve"
)

// askingServer is a server with a session. Its calls ask the client, on the listener's stream if there is one.
func askingServer(t *testing.T) (p *testServer, session string, listening chan serve.Filter) {
	t.Helper()
	b, listening := newAskingBackend()
	p = newTestServer(t, b)
	return p, p.startSession("2025-11-25", `{"elicitation":{}}`), listening
}

func newAskingBackend() (b *testBackend, listening chan serve.Filter) {
	listening = make(chan serve.Filter, 1)
	b = newListenBackend(listening, nil, make(chan struct{}, 2))
	b.answer = func(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
		return r.SendRequestToListener(ctx, "elicitation/create", json.RawMessage(`{"message":"name?"}`))
	}
	return b, listening
}

const askingCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`

// respond sends the response to a request of the server.
func (p *testServer) respond(session, request, result string) {
	p.t.Helper()
	var m struct{ ID, Method string }
	if err := json.Unmarshal([]byte(request), &m); err != nil || m.Method != "elicitation/create" {
		p.t.Fatalf("%s: %v", request, err)
	}
	if r := p.send(inSession(session, `{"jsonrpc":"2.0","id":"`+m.ID+`","result":`+result+`}`)); r.StatusCode != http.StatusAccepted {
		p.t.Errorf("response: %d %s", r.StatusCode, r.text())
	}
}

// nonEmptyMessage is the next message after priming events.
func (r *testReply) nonEmptyMessage() string {
	r.t.Helper()
	for {
		if text := r.message(); text != "" {
			return text
		}
	}
}

// TestClientRequest_OnListener imitates a client that reads the reply to a POST only when it is complete.
func TestClientRequest_OnListener(t *testing.T) {
	t.Parallel()
	p, session, listening := askingServer(t)
	stream := p.send(testRequest{method: http.MethodGet, header: map[string]string{"Mcp-Session-Id": session}})
	<-listening
	replies := make(chan string)
	go func() { replies <- p.send(inSession(session, askingCall)).text() }()
	p.respond(session, stream.nonEmptyMessage(), `{"action":"accept"}`)
	if got := <-replies; !strings.Contains(got, `"action":"accept"`) || strings.Contains(got, "elicitation/create") {
		t.Errorf("reply = %s", got)
	}
}

func TestClientRequest_WithoutListener(t *testing.T) {
	t.Parallel()
	p, session, _ := askingServer(t)
	other := p.startSession("2025-11-25", `{"elicitation":{}}`)
	p.send(testRequest{method: http.MethodGet, header: map[string]string{"Mcp-Session-Id": other}})
	reply := p.send(inSession(session, askingCall))
	p.respond(session, reply.nonEmptyMessage(), `{"action":"decline"}`)
	if got := reply.nonEmptyMessage(); !strings.Contains(got, `"action":"decline"`) {
		t.Errorf("reply = %s", got)
	}
}

func TestClientRequest_RepeatedWhenListenerEnds(t *testing.T) {
	t.Parallel()
	p, session, listening := askingServer(t)
	ctx, leave := context.WithCancel(t.Context())
	stream := p.send(testRequest{method: http.MethodGet, ctx: ctx, header: map[string]string{"Mcp-Session-Id": session}})
	<-listening
	replies := make(chan *testReply)
	go func() { replies <- p.send(inSession(session, askingCall)) }()
	asked := stream.nonEmptyMessage()
	leave()
	reply := <-replies
	if again := reply.nonEmptyMessage(); again != asked {
		t.Errorf("repeated as %s, was %s", again, asked)
	}
	p.respond(session, asked, `{"action":"accept"}`)
	if got := reply.nonEmptyMessage(); !strings.Contains(got, `"action":"accept"`) {
		t.Errorf("reply = %s", got)
	}
}
