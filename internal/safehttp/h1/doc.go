// Package h1 speaks HTTP/1.1 without encryption (RFC 9112) on the goroutine that asks.
//
// Servers that stand beside Patchbay, in one cluster or on one machine, are mostly reached in plain HTTP and asked often. net/http
// keeps two goroutines for each connection and wakes both for each request, which is half of what a short exchange costs; here one
// goroutine writes, waits and reads. Headers are checked by golang.org/x/net/http/httpguts.
//
// A response whose head came whole and has one meaning alone is read here, field by field, without the ten objects that
// [net/http.ReadResponse] makes of it: see plain.parse. What is in doubt in any way is left to that one, with every byte. Chunks are
// read by net/http's reader in both cases. So it is as docs/adr/0015 has it for requests.
//
// [Transport] takes the kind of request that nearly all are, and leaves the rest to another: TLS and with it HTTP/2, bodies of
// unknown length or of more than [MaxBody], upgrades, trailers, traced requests. A caller notices no difference from net/http:
//
//	gzip            asked for, and taken off, where the request says nothing of encodings
//	kept alive      a connection is used again after a body that was read to its end, and is looked at before
//	sent again      only where a kept connection turned out to be closed: if nothing went out, or if the request may be repeated
//	interim (1xx)   passed over, at most five
//	cancelled       the connection is closed and the context's cause returned, also while the body is read
//	refused         what could be read as another request: a Host that is none, too, which net/http leaves empty
//
// What is different: a request's body is read whole before anything is sent, 101 has no body, and the old Request.Cancel is not heeded.
// The bodies of responses tell by their method Ready whether a Read would wait.
package h1
