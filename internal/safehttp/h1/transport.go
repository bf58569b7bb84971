package h1

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
	"unicode/utf8"
)

// MaxBody is the longest request body that a Transport sends itself, in bytes. A longer one could fill every buffer on its way while
// the server answers already, and takes somebody who reads and writes at the same time.
const MaxBody = 64 << 10

// Transport is an [http.RoundTripper]. All of its fields are set, and do not change once it is used; it is safe for concurrent use.
type Transport struct {
	// Dial connects to host:port. It decides where that may be.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Next takes the requests that are none for this package. It is told their partitions if it has a RoundTripIn, too.
	Next http.RoundTripper

	MaxIdle        int           // idle connections in all
	MaxIdlePerHost int           // idle connections of one partition to one host:port
	IdleTimeout    time.Duration // after which an idle connection is closed, a quarter of it later at most
	MaxHeaderBytes int64         // of one response
	ReadBuffer     int           // bytes for each connection

	idle    shelf
	readers sync.Pool // of *bufio.Reader
}

// RoundTrip sends one request in the partition "".
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.RoundTripIn("", r) }

// RoundTripIn sends one request and returns the head of its response. A connection that was kept is of the same partition. An error of dialling
// is returned as it is, unless r's context has ended.
func (t *Transport) RoundTripIn(partition string, r *http.Request) (*http.Response, error) {
	if !takes(r) {
		return t.leave(partition, r)
	}
	out, err := write(r)
	if err != nil {
		return nil, err
	}
	defer buffers.Put(out)
	ctx, at := r.Context(), slot{partition, addressOf(r.URL)}
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c, err := t.connection(ctx, at)
		if err != nil {
			return nil, err
		}
		resp, err := c.exchange(r, *out)
		if err == nil || !c.wasClosed(r) {
			return resp, err
		}
	}
}

// leave leaves a request to Next.
func (t *Transport) leave(partition string, r *http.Request) (*http.Response, error) {
	if next, ok := t.Next.(interface {
		RoundTripIn(partition string, r *http.Request) (*http.Response, error)
	}); ok {
		return next.RoundTripIn(partition, r)
	}
	return t.Next.RoundTrip(r)
}

// connection is one that was kept, or a new one. A kept one is looked at here, or where it is asked.
func (t *Transport) connection(ctx context.Context, at slot) (*conn, error) {
	for c := t.idle.take(at); c != nil; c = t.idle.take(at) {
		if c.asker != nil || c.lives() {
			c.in = t.reader(c)
			return c, nil
		}
		_ = c.net.Close()
	}
	made, err := t.Dial(ctx, "tcp", at.address)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	return t.newConn(made, at), nil
}

// CloseIdleConnections closes what no request uses, here and in Next.
func (t *Transport) CloseIdleConnections() {
	t.idle.clear()
	if next, ok := t.Next.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}

// takes tells whether a request is of the usual kind.
func takes(r *http.Request) bool {
	return r.URL != nil && r.URL.Scheme == "http" && r.URL.Opaque == "" && r.URL.Host != "" && plainHost(r.URL.Host) && plainHost(r.Host) &&
		plainBody(r) && r.Method != http.MethodConnect && !r.Close && r.TransferEncoding == nil && r.Trailer == nil &&
		r.Header["Connection"] == nil && r.Header["Upgrade"] == nil && r.Header["Expect"] == nil &&
		httptrace.ContextClientTrace(r.Context()) == nil
}

// plainHost tells whether a host needs no conversion: not an international name, no IPv6 zone.
func plainHost(host string) bool {
	for i := range len(host) {
		if c := host[i]; c >= utf8.RuneSelf || c == '%' {
			return false
		}
	}
	return true
}

// plainBody tells whether a request has no body, or one that is as long as it says and not too long.
func plainBody(r *http.Request) bool {
	switch r.Body {
	case nil:
		return r.ContentLength == 0
	case http.NoBody:
		return true
	}
	return 0 < r.ContentLength && r.ContentLength <= MaxBody
}
