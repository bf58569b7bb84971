package serve

import (
	"context"
	"encoding/json"
	"net/http"
)

// A Backend serves one caller at one address.
type Backend interface {
	// Describe describes the server, in the form of the peer's era.
	Describe(ctx context.Context, p *Client) Description
	// Serve answers a request that this package does not answer itself (initialize, server/discover, ping,
	// logging/setLevel and subscriptions/listen). The result, an object, is written as it is. An error that is
	// an [*RPCError] is sent as that; any other becomes -32603 without its text.
	//
	// ctx ends when the response is not awaited any more: in the modern era with the connection, in the
	// handshake era by notifications/cancelled, with the cause [ErrCancelled].
	Serve(ctx context.Context, r *Request) (json.RawMessage, error)
	// CachedResult returns the whole result of a list if it is cached, with all that the peer's era requires (see
	// [Complete]). nil: Serve is called. The bytes are read-only.
	CachedResult(method, cursor string, p *Client) []byte
	// Listen reports changes until ctx ends: notify takes a notification's method and its params, an object or
	// nil. When Listen returns by itself, the listener's stream ends. It runs on after [Server.Handle] has
	// returned.
	Listen(ctx context.Context, filter Filter, notify func(method string, params json.RawMessage)) error
	// HandleNotification takes the client's notifications that this package does not handle. params are valid only during
	// the call.
	HandleNotification(ctx context.Context, p *Client, method string, params json.RawMessage)
}

// A DeliveryObserver is a [Backend] that is told which responses were not delivered: the client was gone or did not
// read. A response that the client may still resume counts as delivered.
type DeliveryObserver interface {
	ResponseUndelivered(r *Request)
}

// A MessageLimiter is a [Backend] that counts messages. Charge takes the number of messages beyond the first of one HTTP
// request, before any is answered. If it fails, all are refused with its error, and h are that response's
// headers.
type MessageLimiter interface {
	Charge(h http.Header, more int) *RPCError
}

// Description describes a server, for initialize and server/discover.
type Description struct {
	Name         string
	Version      string
	Title        string          // optional
	Instructions string          // optional
	Capabilities json.RawMessage // an object
}
