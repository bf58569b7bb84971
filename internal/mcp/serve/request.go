package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
)

// ErrCancelled is why the context of a request of the handshake era ends: its client took it back.
var ErrCancelled = errors.New("the client cancelled the request")

// ErrCannotAsk says that a peer takes no requests from us, at least not now.
var ErrCannotAsk = errors.New("the client takes no requests")

// Request is one request of a client. Its raw parts are slices of the body that it came in.
type Request struct {
	Peer       *Peer
	ID         json.RawMessage
	Method     string
	Params     json.RawMessage // whole, byte for byte; nil: none
	Arguments  json.RawMessage // params.arguments; nil: none
	Meta       json.RawMessage // params._meta; nil: none
	Name       string          // params.name, params.uri or params.taskId, whichever the method has
	Cursor     string          // params.cursor
	Header     http.Header
	RemoteAddr string
	Tag        [16]byte // the backend's own, by which it knows the request when the answer is lost
	Continues  bool     // the params say that it goes on with an earlier request, by a requestState or inputResponses

	exchange *exchange // nil in a backend's tests: there is nobody to talk to
	token    json.RawMessage
	released bool
	after    func()
}

// Release promises that nobody looks at the raw parts any more once [Backend.Serve] has returned, so that the body's memory can be
// used again.
func (r *Request) Release() { r.released = true }

// After has something done when the answer has left, or cannot leave any more: then nobody looks at the result that [Backend.Serve]
// returned. That takes a door that is done with what it was given when its Write returns, as those of HTTP/1.1 are; HTTP/2's need not be.
func (r *Request) After(do func()) { r.after = do }

// ProgressToken is the one under which the client wants to hear of the request's progress, as raw JSON; nil: it does not.
func (r *Request) ProgressToken() json.RawMessage { return r.token }

// LogLevel is from which level on a client of the handshake era wants to hear log messages; empty: it did not say, or said it to another
// process. One of the modern era says it in Meta.
func (r *Request) LogLevel() string {
	if r.exchange == nil || r.Peer.Modern || r.exchange.level == 0 || r.exchange.level > level(len(levelNames)) {
		return ""
	}
	return levelNames[r.exchange.level-1]
}

// Notify sends a notification ahead of the answer. The first one turns the reply into an event stream. What the client cannot or
// does not want to hear is dropped: where it accepts JSON alone, and messages below the level that it asked for. An error says
// that the connection is gone.
func (r *Request) Notify(method string, params json.RawMessage) error {
	if r.exchange == nil {
		return nil
	}
	return r.exchange.notify(method, params)
}

// Ask sends a request of ours to the client and waits for the answer's result, which may arrive at another process. It is for
// peers of the handshake era with a session; others, and those that accept JSON alone, get [ErrCannotAsk]. An error that the client
// answers with is an [*RPCError].
func (r *Request) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if r.exchange == nil {
		return nil, ErrCannotAsk
	}
	return r.exchange.ask(ctx, method, params)
}
