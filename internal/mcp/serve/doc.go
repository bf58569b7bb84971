// Package serve is an MCP server over Streamable HTTP, for clients of both eras: modern (2026-07-28, no
// sessions) and handshake (initialize, sessions). Server.Handle dispatches by HTTP method:
//
//	POST   one message (post.go) ──► modern.go: version in _meta and headers │ handshake.go: session id
//	                   ──► Backend.CachedResult, or Backend.Serve (exchange.go)
//	                   ──► JSON (reply.go), or an event stream after the first notification (stream.go)
//	POST   an array (batch.go)                                                         (2025-03-26)
//	POST   subscriptions/listen (listen.go, listener.go) ──► Backend.Listen ──► stream  (modern)
//	GET    without Last-Event-ID ──► Backend.Listen ──► stream                          (handshake)
//	GET    with Last-Event-ID (get.go, resumable.go) ──► the events after that id       (handshake)
//	DELETE ends a session                                                               (handshake)
//
// Tenants, agents and tools are unknown here: the caller is an opaque string, and a [Backend] serves it.
// Sessions are not stored: the session id is the sealed content of initialize (session.go), so that every
// process with the key can serve it. Processes exchange client responses, cancellations, log levels and events of
// broken streams by a [Router] (mailbox.go), and requests for the stream of a session's GET (relay.go).
//
// Backend results are written byte for byte. Members that the protocol requires and the result lacks
// (resultType, ttlMs, cacheScope) are inserted in front (result.go). Large responses to slow readers are
// bounded by responsebuffer.go.
package serve
