package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"patchbay/internal/mcp/wire"
)

// ErrCancelled is the cause of a context that the client ended by notifications/cancelled.
var ErrCancelled = errors.New("the client cancelled the request")

// ErrRequestsUnsupported means that the client takes no requests from the server, at least not now.
var ErrRequestsUnsupported = errors.New("the client takes no requests")

// Request is one request of a client. Its raw fields are slices of the body.
type Request struct {
	Peer       *Client
	ID         json.RawMessage
	Method     string
	Params     json.RawMessage // whole, byte for byte; nil: none
	Arguments  json.RawMessage // params.arguments; nil: none
	Meta       json.RawMessage // params._meta; nil: none
	Task       json.RawMessage // params.task; nil: none
	Name       string          // params.name, params.uri or params.taskId, by method
	Cursor     string          // params.cursor
	Header     http.Header
	RemoteAddr string
	CallID     [16]byte // set by the backend, to identify the request in ResponseUndelivered
	IsResumed  bool     // the params resume an earlier request, by a requestState or inputResponses

	exchange      *exchange // nil in a backend's tests
	progressToken json.RawMessage
	bodyReleased  bool
	afterReply    func()
}

// ReleaseBody promises that the raw fields are unused once [Backend.Serve] has returned, so that the body's buffer
// can be reused.
func (r *Request) ReleaseBody() { r.bodyReleased = true }

// AfterReply registers a function to run when the response is written or has failed. From then on the result of
// [Backend.Serve] is unused. That holds only if the server's Write does not retain its argument: true of
// HTTP/1.1, not of HTTP/2.
func (r *Request) AfterReply(do func()) { r.afterReply = do }

// ProgressToken is the raw progressToken; nil: the client wants no progress.
func (r *Request) ProgressToken() json.RawMessage { return r.progressToken }

// LogLevel is the minimum level that a client of the handshake era set; empty: none is known in this process. A
// modern client sets it in Meta.
func (r *Request) LogLevel() string {
	if r.exchange == nil || r.Peer.Modern || r.exchange.minLevel == 0 || r.exchange.minLevel > logLevel(len(levelNames)) {
		return ""
	}
	return levelNames[r.exchange.minLevel-1]
}

// Notify sends a notification before the response. The first one turns the reply into an event stream. It is
// dropped if the client accepts only JSON, or if it is a log message below the client's level. It fails when
// the connection is closed.
func (r *Request) Notify(method string, params json.RawMessage) error {
	if r.exchange == nil {
		return nil
	}
	return r.exchange.sendNotification(method, params)
}

// SendRequest sends a request to the client and returns the result, which may arrive at another process. It needs a
// session of the handshake era and a client that accepts streams, else it fails with [ErrRequestsUnsupported]. The
// client's error is returned as an [*RPCError].
func (r *Request) SendRequest(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if r.exchange == nil {
		return nil, ErrRequestsUnsupported
	}
	return r.exchange.sendClientRequest(ctx, method, params, false)
}

// SendRequestToListener is SendRequest on the stream of the session's GET, if one is open in any process. Some clients
// read the reply to a POST only when it is complete. When that stream ends without a response, the request is repeated on
// the stream of the reply.
func (r *Request) SendRequestToListener(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if r.exchange == nil {
		return nil, ErrRequestsUnsupported
	}
	return r.exchange.sendClientRequest(ctx, method, params, true)
}

// MetaMember returns a member of Meta; nil: it has none of this name.
func (r *Request) MetaMember(name string) json.RawMessage { return wire.FindMember(r.Meta, name) }
