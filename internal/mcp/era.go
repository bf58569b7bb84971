package mcp

import "context"

// Era is a family of MCP revisions, as stored for a server. Package revision lists them.
type Era string

// The eras.
const (
	EraUnknown   Era = ""
	EraModern    Era = "modern"    // no handshake: every request is self-contained
	EraHandshake Era = "handshake" // initialize, over any transport but HTTP+SSE
	EraSSE       Era = "sse"       // initialize, over HTTP+SSE
)

// eraProtocol is the part of the protocol in which the eras differ.
type eraProtocol interface {
	// openConnection performs the opening requests on a new transport.
	openConnection(ctx context.Context, c *connection) error
	// newMessage encodes a request.
	newMessage(c *connection, r rpcRequest, id int) outgoingMessage
	// canCancel reports whether the server accepts notifications/cancelled.
	canCancel(c *connection) bool
	// hasServerRequests reports whether the server may send requests.
	hasServerRequests() bool
	// listenToServer receives the server's own messages until ctx or the server ends the stream. id is the
	// request id, if the era needs one. opened is called when the stream has begun, unless the first message
	// shows it.
	listenToServer(ctx context.Context, c *connection, id int, opened func()) *Error
	// checkResultType fails if the era has no such result type.
	checkResultType(phase Phase, kind string) *Error
}
