package serve_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/mcp/serve"
)

// TestRelay_ReachesListenerOfOtherServer: the response may arrive at either server.
func TestRelay_ReachesListenerOfOtherServer(t *testing.T) {
	t.Parallel()
	for _, responder := range []int{0, 1} {
		b, listening := newAskingBackend()
		p, other := newTwoServers(t, b)
		session := p.startSession("2025-11-25", `{"elicitation":{}}`)
		stream := other.send(testRequest{method: http.MethodGet, header: map[string]string{"Mcp-Session-Id": session}})
		<-listening
		replies := make(chan string)
		go func() { replies <- p.send(inSession(session, askingCall)).text() }()
		[]*testServer{p, other}[responder].respond(session, stream.nonEmptyMessage(), `{"action":"accept"}`)
		if got := <-replies; !strings.Contains(got, `"action":"accept"`) || strings.Contains(got, "elicitation/create") {
			t.Errorf("responded at %d, reply = %s", responder, got)
		}
	}
}

// TestRelay_MovesWhenListenerEnds: the request goes to the session's next stream of any server, else to that of the reply.
func TestRelay_MovesWhenListenerEnds(t *testing.T) {
	t.Parallel()
	b, listening := newAskingBackend()
	p, other := newTwoServers(t, b, func(o *serve.Options) { o.RelayCheck = time.Millisecond })
	session := p.startSession("2025-11-25", `{"elicitation":{}}`)
	openStream := func() (*testReply, func()) {
		ctx, leave := context.WithCancel(t.Context())
		stream := other.send(testRequest{method: http.MethodGet, ctx: ctx, header: map[string]string{"Mcp-Session-Id": session}})
		<-listening
		return stream, leave
	}
	stream, leave := openStream()
	replies := make(chan *testReply)
	go func() { replies <- p.send(inSession(session, askingCall)) }()
	asked := stream.nonEmptyMessage()
	next, leaveNext := openStream()
	leave()
	if again := next.nonEmptyMessage(); again != asked {
		t.Errorf("repeated as %s, was %s", again, asked)
	}
	leaveNext()
	reply := <-replies
	if again := reply.nonEmptyMessage(); again != asked {
		t.Errorf("repeated in the reply as %s, was %s", again, asked)
	}
	p.respond(session, asked, `{"action":"accept"}`)
	if got := reply.nonEmptyMessage(); !strings.Contains(got, `"action":"accept"`) {
		t.Errorf("reply = %s", got)
	}
}

// TestRelay_WithoutListener: a request that no server takes goes on the stream of the reply.
func TestRelay_WithoutListener(t *testing.T) {
	t.Parallel()
	b, _ := newAskingBackend()
	p, _ := newTwoServers(t, b)
	session := p.startSession("2025-11-25", `{"elicitation":{}}`)
	reply := p.send(inSession(session, askingCall))
	p.respond(session, reply.nonEmptyMessage(), `{"action":"decline"}`)
	if got := reply.nonEmptyMessage(); !strings.Contains(got, `"action":"decline"`) {
		t.Errorf("reply = %s", got)
	}
}
