package safehttp

import (
	"context"
	"net/http"
	"time"
)

type connectTimeoutKey struct{}

// WithConnectTimeout returns a client that gives each new connection, and its TLS handshake, at most timeout; 0: 10
// seconds. It shares the connections of c.
func WithConnectTimeout(c *http.Client, timeout time.Duration) *http.Client {
	if timeout == 0 || timeout == connectTimeout || c == nil || c.Transport == nil {
		return c
	}
	own := *c
	own.Transport = connectTimeoutTransport{next: c.Transport, timeout: timeout}
	return &own
}

type connectTimeoutTransport struct {
	next    http.RoundTripper
	timeout time.Duration
}

func (t connectTimeoutTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	return t.next.RoundTrip(req.WithContext(context.WithValue(req.Context(), connectTimeoutKey{}, t.timeout)))
}

// connectTimeoutFrom returns the timeout of the request that needs the connection.
func connectTimeoutFrom(ctx context.Context) time.Duration {
	if timeout, ok := ctx.Value(connectTimeoutKey{}).(time.Duration); ok {
		return timeout
	}
	return connectTimeout
}
