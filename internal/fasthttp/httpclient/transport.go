package httpclient

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
	"unicode/utf8"
)

// MaxBody is the longest request body that a Transport sends itself, in bytes. A longer one could fill every
// buffer on the way while the server already responds: that needs a goroutine that reads while another writes.
const MaxBody = 64 << 10

// Transport is an [http.RoundTripper]. All of its exported fields are required, and must not change after first
// use. It is safe for concurrent use.
type Transport struct {
	// Dial connects to host:port and enforces which addresses are allowed.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Fallback sends all other requests. If it has a RoundTripPartition, it gets their partitions, too.
	Fallback http.RoundTripper

	MaxIdle        int           // idle connections in all
	MaxIdlePerHost int           // idle connections of one partition to one host:port
	IdleTimeout    time.Duration // closes an idle connection, at most a quarter of it late
	MaxHeaderBytes int64         // of one response
	ReadBuffer     int           // bytes per connection

	idle    idlePool
	readers sync.Pool // of *bufio.Reader
}

// RoundTrip sends one request in the partition "".
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.RoundTripPartition("", r)
}

// RoundTripPartition sends one request and returns the head of its response. It reuses only connections of the same
// partition. An error of Dial is returned unchanged, unless r's context has ended.
func (t *Transport) RoundTripPartition(partition string, r *http.Request) (*http.Response, error) {
	if !canSend(r) {
		return t.sendByFallback(partition, r)
	}
	out, err := encodeRequest(r)
	if err != nil {
		return nil, err
	}
	defer requestBuffers.Put(out)
	ctx, key := r.Context(), poolKey{partition, dialAddress(r.URL)}
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c, err := t.getConn(ctx, key)
		if err != nil {
			return nil, err
		}
		resp, err := c.roundTrip(r, *out)
		if err == nil || !c.canRetryClosed(r) {
			return resp, err
		}
	}
}

// sendByFallback sends a request by Fallback.
func (t *Transport) sendByFallback(partition string, r *http.Request) (*http.Response, error) {
	if next, ok := t.Fallback.(interface {
		RoundTripPartition(partition string, r *http.Request) (*http.Response, error)
	}); ok {
		return next.RoundTripPartition(partition, r)
	}
	return t.Fallback.RoundTrip(r)
}

// getConn returns an idle connection or dials a new one. An idle one is checked here, or by its probe during
// the write.
func (t *Transport) getConn(ctx context.Context, key poolKey) (*conn, error) {
	for c := t.idle.get(key); c != nil; c = t.idle.get(key) {
		if c.probe != nil || c.isIdle() {
			c.in = t.getReader(c)
			return c, nil
		}
		_ = c.net.Close()
	}
	netConn, err := t.Dial(ctx, "tcp", key.address)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	return t.newConn(netConn, key), nil
}

// CloseIdleConnections closes idle connections, here and in Fallback.
func (t *Transport) CloseIdleConnections() {
	t.idle.closeAll()
	if next, ok := t.Fallback.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}

// canSend reports whether the transport sends a request itself.
func canSend(r *http.Request) bool {
	return r.URL != nil && r.URL.Scheme == "http" && r.URL.Opaque == "" && r.URL.Host != "" && isPlainHost(r.URL.Host) && isPlainHost(r.Host) &&
		hasSendableBody(r) && r.Method != http.MethodConnect && !r.Close && r.TransferEncoding == nil && r.Trailer == nil &&
		r.Header["Connection"] == nil && r.Header["Upgrade"] == nil && r.Header["Expect"] == nil &&
		httptrace.ContextClientTrace(r.Context()) == nil
}

// isPlainHost reports whether a host needs no conversion: it has no international name and no IPv6 zone.
func isPlainHost(host string) bool {
	for i := range len(host) {
		if c := host[i]; c >= utf8.RuneSelf || c == '%' {
			return false
		}
	}
	return true
}

// hasSendableBody reports whether a request has no body, or one of a known length up to MaxBody.
func hasSendableBody(r *http.Request) bool {
	switch r.Body {
	case nil:
		return r.ContentLength == 0
	case http.NoBody:
		return true
	}
	return 0 < r.ContentLength && r.ContentLength <= MaxBody
}
