// Package httpclient is an HTTP/1.1 client without TLS (RFC 9112) that needs no goroutine per connection.
//
// MCP servers in the same cluster or on the same machine are mostly called over plain HTTP. net/http keeps two
// goroutines per connection and wakes both for each request, half the cost of a short exchange. Here the
// caller's goroutine writes, waits and reads.
//
// Flow: [Transport] (transport.go) encodes the request (request.go), gets a connection (idle_pool.go), checks
// that it is silent (peek_unix.go), and sends the request (conn.go). A plain response head is parsed field by
// field (plain.go, lines.go). Any other goes to [net/http.ReadResponse] with every byte, as in docs/adr/0015.
// The body (body.go, framing.go, gzip.go) returns the connection.
//
// Requests of other kinds go to Transport.Fallback: TLS with HTTP/2, bodies of unknown length or above [MaxBody],
// upgrades, trailers, traced requests. The behaviour is that of net/http:
//
//	gzip            requested and decoded, unless the request sets Accept-Encoding
//	reuse           of a connection whose body was read to its end, after a check that it is silent
//	retry           only on a reused connection that was closed: if nothing was sent, or the request is idempotent
//	interim (1xx)   skipped, at most five
//	cancellation    closes the connection and returns the context's cause, also while the body is read
//	rejected        what a server could read as another request, and an invalid Host, which net/http sends empty
//
// Differences: a request's body is read whole before anything is sent, a 101 response has no body, and
// Request.Cancel is ignored. The Ready method of a response's body reports whether a Read would block.
package httpclient
