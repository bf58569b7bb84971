// Package framing refuses HTTP/1.1 requests whose body has two lengths: a Transfer-Encoding and a Content-Length (RFC 9112 section 6.1).
//
// Such a request may hide another one behind a proxy that goes by the other length. net/http's server goes by the Transfer-Encoding, deletes
// the Content-Length before a handler sees it, and keeps the connection. So [Listen] reads along what net/http reads: it follows heads and
// bodies, and notes for each head which of the two fields it has. [Refuse] compares that with the request.
//
// The reader takes a strict part of the grammar, as in package fastpath. Where it cannot follow a connection any more, each request with a
// Transfer-Encoding ends its connection, so that nothing behind it is ever read as a request.
package framing
