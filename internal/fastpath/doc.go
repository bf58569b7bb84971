// Package fastpath serves HTTP/1.1 requests of one plain form without net/http's server, and gives every connection that says anything
// else to net/http.
//
// Nearly all that agents send is a POST of a known length to one address, on a connection that stays. For these net/http's server starts a
// goroutine and moves two deadlines for each request, reads the head field by field and writes it through two buffers: a seventh of what
// a call through the gateway took. Here a request is plain, or it is not ours: [head.parse] takes a strict part of what RFC 9112 allows,
// and whatever is not within that (another method, another path, an encoded one, chunks, Expect, Upgrade, HTTP/1.0, a field twice that
// may come once, a byte that must not be there) goes to net/http with all that was read, and so does the rest of that connection. So there
// is one place that decides about odd requests, and it is not this one. docs/adr/0015 has the reasons and the price.
//
// Handlers see an *http.Request and an http.ResponseWriter as net/http has them: with Flush, Hijack and deadlines by
// [http.ResponseController], a context that ends with the connection, and a body that ends where its length says.
package fastpath
