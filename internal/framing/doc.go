// Package framing rejects HTTP/1.1 requests whose body has two lengths: Transfer-Encoding and Content-Length
// (RFC 9112 section 6.1).
//
// Such a request may smuggle another one past a proxy that uses the other length. net/http's server uses
// Transfer-Encoding, deletes Content-Length before a handler sees it, and keeps the connection. So [Listen]
// scans the bytes that net/http reads (listener.go): it follows heads and bodies, and stores which of the two
// fields each head has (scanner.go). [Refuse] compares that with the request.
//
// The scanner accepts a strict subset of the grammar, as package httpserver does. On a connection that it cannot
// follow any more, each request with a Transfer-Encoding closes the connection, so that nothing behind it is
// read as a request.
package framing
