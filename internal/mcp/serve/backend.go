package serve

import (
	"context"
	"encoding/json"
	"net/http"
)

// A Backend is what stands behind one address for one caller.
type Backend interface {
	// Describe says who we are, in the form of the peer's era.
	Describe(ctx context.Context, p *Peer) Description
	// Serve answers a request that this package does not answer itself (initialize, server/discover, ping, logging/setLevel and
	// subscriptions/listen). The result, an object, is written as it is. An error that is an [*RPCError] is sent as that; any
	// other becomes -32603 without its text.
	//
	// ctx ends when nobody waits for the answer any more: in the modern era with the connection, in the handshake era, with the cause
	// [ErrCancelled], by notifications/cancelled.
	Serve(ctx context.Context, r *Request) (json.RawMessage, error)
	// Prepared is the whole result of a list, where it stands ready, with all that the peer's era demands of it (see [Complete]);
	// nil: Serve is asked. Nothing writes into it.
	Prepared(method, cursor string, p *Peer) []byte
	// Listen tells of changes until ctx ends: hear takes a notification's method and its params, an object or nil. When Listen
	// returns by itself, the listener's stream ends. It runs on after [Server.Handle] has returned.
	Listen(ctx context.Context, filter Filter, hear func(method string, params json.RawMessage)) error
	// Notified takes the notifications of a client that mean nothing to this package. params are the caller's only while it runs.
	Notified(ctx context.Context, p *Peer, method string, params json.RawMessage)
}

// A Witness is a [Backend] that wants to know which of its answers did not leave: the client had gone, or did not read. What a client
// may still ask for again has left.
type Witness interface {
	Lost(r *Request)
}

// A Meter is a [Backend] that counts what its caller sends. It hears of the messages that come in one HTTP request beside the first, before any
// of them is answered. Where they are too many they are all refused with its error, and h are headers of that.
type Meter interface {
	Charge(h http.Header, more int) *RPCError
}

// Description is who a server says it is.
type Description struct {
	Name         string
	Version      string
	Title        string          // may be empty
	Instructions string          // may be empty
	Capabilities json.RawMessage // an object
}
