// Package serve speaks the Model Context Protocol as a server, over Streamable HTTP, to clients of every era that has it.
//
//	POST   one message ──► modern: _meta and headers say all │ handshake: the session id says who it is
//	                   ──► Backend.Prepared, or Backend.Serve ──► JSON, or an event stream once there is more to say
//	POST   subscriptions/listen ──► Backend.Listen ──► an event stream that stays          (modern)
//	GET    without Last-Event-ID ─► Backend.Listen ──► an event stream that stays          (handshake)
//	GET    with Last-Event-ID ────► what a broken stream did not bring                     (handshake)
//	DELETE the end of a session                                                            (handshake)
//
// It knows nothing of tenants, agents or tools: who calls is an opaque text, and what stands behind an address is a [Backend].
// It keeps no session: the id of one is sealed and says what initialize said, so that every process which shares the key can
// serve it. What one process must tell another (a client's answer, a cancellation, a reply whose stream broke) goes through a
// [Router].
//
// Results of a backend are handed on byte for byte. Where the protocol demands a member that they lack (resultType, ttlMs,
// cacheScope), it is put in front of the others.
package serve
