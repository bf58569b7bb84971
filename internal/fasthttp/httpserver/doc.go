// Package httpserver serves HTTP/1.1 requests of one plain form without net/http's server, and hands every other
// connection to net/http.
//
// Nearly all requests of agents are a POST of known length to one path on a kept-alive connection. For each of
// them net/http's server starts a goroutine, moves two deadlines, reads the head field by field and writes
// through two buffers: a seventh of the time of a call through the gateway. docs/adr/0015 has the reasons and
// the price.
//
// Flow: [Server.Serve] accepts a connection (server.go) and starts its goroutine (conn.go). It reads a head and
// parses it (head.go), with the lines of the previous head as a cache (line.go). The handler reads the body
// (body.go) and writes the response (response.go, response_head.go). One goroutine closes idle and slow
// connections, and cancels requests of clients that disconnected (sweep.go).
//
// [requestHead.parse] accepts a strict subset of RFC 9112. Anything else goes to net/http with all that was
// read, and with the rest of its connection (fallback.go): another method or path, an encoded path, chunks,
// Expect, Upgrade, HTTP/1.0, a repeated field that must be single, an invalid byte. So only net/http decides
// about unusual requests.
//
// Handlers get an *http.Request and an http.ResponseWriter as from net/http: with Flush, Hijack and deadlines
// by [http.ResponseController]. The context ends with the connection, and the body after Content-Length bytes.
package httpserver
