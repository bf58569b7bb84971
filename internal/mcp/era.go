package mcp

import "context"

// Era is a family of protocol versions, as it is remembered of a server. Which they are stands in package revision.
type Era string

// The eras.
const (
	EraUnknown   Era = ""
	EraModern    Era = "modern"    // no handshake: every request says all
	EraHandshake Era = "handshake" // initialize, over any transport but the next
	EraSSE       Era = "sse"       // initialize, over the HTTP+SSE of 2024
)

// era is what the two ways to hold a conversation differ in.
type era interface {
	// open begins the conversation c on its fresh carrier.
	open(ctx context.Context, c *conversation) error
	// message is a request as this era writes it.
	message(c *conversation, r request, id int) outgoing
	// cancels tells whether the server wants to hear that nobody waits for a reply any more.
	cancels(c *conversation) bool
	// asks tells whether the server may send requests of its own, which want a reply.
	asks() bool
	// listen hears what the server says by itself, as request id where that takes one, until ctx or the server ends it. opened is
	// called when it has begun, where that shows otherwise than by what is said.
	listen(ctx context.Context, c *conversation, id int, opened func()) *Error
	// settle reads how a result is meant: its kind is one that the era has.
	settle(phase Phase, kind string) *Error
}
