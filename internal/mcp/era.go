package mcp

import (
	"context"
	"slices"
)

// Era is a family of protocol versions, as it is remembered of a server.
type Era string

// The eras.
const (
	EraUnknown   Era = ""
	EraModern    Era = "modern"    // no handshake: every request says all
	EraHandshake Era = "handshake" // initialize, over any transport but the next
	EraSSE       Era = "sse"       // initialize, over the HTTP+SSE of 2024
)

// All knowledge of versions stands here, newest first.
//
//	versions                                        opens with        a request carries               a conversation has
//	2026-07-28                                      server/discover   its version and who we are      no session
//	2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05  initialize        MCP-Protocol-Version over HTTP  Mcp-Session-Id, where the server gives one
var (
	modernVersions    = versions{"2026-07-28"}
	handshakeVersions = versions{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
)

type versions []string

// offer is the version that we ask for.
func (v versions) offer() string { return v[0] }

// knows tells whether we can speak a version that the server chose.
func (v versions) knows(version string) bool { return slices.Contains(v, version) }

// common is the newest version that the server names, too; empty: there is none.
func (v versions) common(named []string) string {
	for _, version := range v {
		if slices.Contains(named, version) {
			return version
		}
	}
	return ""
}

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
	// listen hears what the server says by itself, as request id where that takes one, until ctx or the server ends it.
	listen(ctx context.Context, c *conversation, id int) *Error
	// settle reads how a result is meant: its kind is one that the era has.
	settle(phase Phase, kind string) *Error
}
