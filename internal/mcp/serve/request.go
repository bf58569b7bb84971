package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
)

// ErrCancelled is why the context of a request ends: nobody waits for its answer any more.
var ErrCancelled = errors.New("the client cancelled the request")

// ErrCannotAsk says that a peer takes no requests from us, at least not now.
var ErrCannotAsk = errors.New("the client takes no requests")

// Request is one request of a client. Its raw parts are slices of a buffer that is used again after [Backend.Serve] has returned:
// copy what is kept, or Keep all.
type Request struct {
	Peer       *Peer
	ID         json.RawMessage
	Method     string
	Params     json.RawMessage // whole, byte for byte; nil: none
	Arguments  json.RawMessage // params.arguments; nil: none
	Meta       json.RawMessage // params._meta; nil: none
	Name       string          // params.name, params.uri or params.taskId, where the method has one
	Cursor     string          // params.cursor
	Header     http.Header
	RemoteAddr string
}

// Keep leaves the raw parts to the caller for good.
func (r *Request) Keep() {}

// ProgressToken is the one that progress of the request is told under, as raw JSON; nil: the client wants to hear of none.
func (r *Request) ProgressToken() json.RawMessage { return nil }

// Notify sends a notification ahead of the answer. The first one turns the reply into an event stream. What the client cannot or
// does not want to hear is dropped: where it accepts JSON alone, and messages below the level that it asked for. An error says
// that the connection is gone.
func (r *Request) Notify(method string, params json.RawMessage) error { return nil }

// Ask sends a request of ours to the client and waits for the answer's result, which may arrive at another process. It is for
// peers of the handshake era; others, and those that accept JSON alone, get [ErrCannotAsk]. An error of the client is an
// [*RPCError].
func (r *Request) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return nil, ErrCannotAsk
}
