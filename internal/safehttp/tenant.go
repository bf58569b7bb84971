package safehttp

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"time"

	"patchbay/internal/safe"
)

// Idle connections are kept apart per tenant. A server, or a proxy in front of several servers, may send more
// than one response. On a connection that two tenants share, the extra one could become the response to the other
// tenant.

type tenantKey struct{}

// WithTenant returns a context for requests of a tenant, by its id. No other tenant's requests use their
// connections. Requests without a tenant are the installation's, and share connections.
func WithTenant(ctx context.Context, tenant string) context.Context {
	return context.WithValue(ctx, tenantKey{}, tenant)
}

func tenantFromContext(ctx context.Context) string {
	tenant, _ := ctx.Value(tenantKey{}).(string)
	return tenant
}

// ClientFor returns a client for one tenant's requests, by its id, regardless of their contexts. All clients of
// a policy share their transport.
func (p *Policy) ClientFor(tenant string) *http.Client {
	own := *p.client
	own.Transport = &tenantRoundTripper{next: p.transport, tenant: tenant}
	return &own
}

type tenantRoundTripper struct {
	next   *roundTripper
	tenant string
}

// RoundTrip sends one request if the policy allows it.
func (t *tenantRoundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.next.sendRequest(t.tenant, r)
}

// CloseIdleConnections closes those of all tenants.
func (t *tenantRoundTripper) CloseIdleConnections() { t.next.CloseIdleConnections() }

// partitionedTransport is net/http's transport with separate connections per partition. net/http identifies
// connections by host and port, so the host of a request's URL includes the partition until the dial. One
// transport for all partitions has one limit of idle connections.
type partitionedTransport struct{ *http.Transport }

// partitionSeparator is a character that no allowed host contains.
const partitionSeparator = "@"

// RoundTripPartition sends one request on a connection of a partition.
func (t *partitionedTransport) RoundTripPartition(partition string, r *http.Request) (*http.Response, error) {
	if partition == "" {
		return t.Transport.RoundTrip(r)
	}
	to := *r.URL
	to.Host = "[" + partition + partitionSeparator + r.URL.Hostname() + "]:" + portOrDefault(r)
	own := *r
	own.URL = &to
	if own.Host == "" {
		own.Host = r.URL.Host
	}
	resp, err := t.Transport.RoundTrip(&own)
	if resp != nil {
		resp.Request = r
	}
	return resp, err
}

func portOrDefault(r *http.Request) string {
	switch {
	case r.URL.Port() != "":
		return r.URL.Port()
	case r.URL.Scheme == "https":
		return "443"
	}
	return "80"
}

// dialPartition connects to an address that may include a partition. net/http calls it, and uses the
// connection, in its own goroutines.
func (d *dialer) dialPartition(ctx context.Context, network, address string) (c net.Conn, err error) {
	defer safe.RecoverTo(safe.Upstream, &err)
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if _, own, ok := strings.Cut(host, partitionSeparator); ok {
		host = own
	}
	if c, err = d.dialChecked(ctx, network, net.JoinHostPort(host, port)); err != nil || d.plainNet {
		return c, err
	}
	return recoveringConn{c}, nil
}

// recoveringConn turns panics into errors.
type recoveringConn struct{ net.Conn }

// Read reads from the connection.
func (c recoveringConn) Read(p []byte) (n int, err error) {
	defer safe.RecoverTo(safe.Upstream, &err)
	return c.Conn.Read(p)
}

// Write writes to the connection.
func (c recoveringConn) Write(p []byte) (n int, err error) {
	defer safe.RecoverTo(safe.Upstream, &err)
	return c.Conn.Write(p)
}

// dialTLSPartition is dialPartition with a TLS handshake, which needs the host without its partition.
func (d *dialer) dialTLSPartition(ctx context.Context, network, address string) (_ net.Conn, err error) {
	defer safe.RecoverTo(safe.Upstream, &err)
	plain, err := d.dialPartition(ctx, network, address)
	if err != nil {
		return nil, err
	}
	host, _, _ := net.SplitHostPort(address)
	if _, own, ok := strings.Cut(host, partitionSeparator); ok {
		host = own
	}
	c := tls.Client(plain, &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: d.roots, ServerName: host, NextProtos: []string{"h2", "http/1.1"},
	})
	timeout := connectTimeoutFrom(ctx)
	errHandshake := handshakeTimeout(timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errHandshake)
	defer cancel()
	if err := c.HandshakeContext(ctx); err != nil {
		_ = plain.Close()
		if cause := context.Cause(ctx); cause == errHandshake { //nolint:errorlint // it is this one
			err = cause
		}
		return nil, err
	}
	return c, nil
}

// handshakeTimeout is the error of a TLS handshake that took longer.
type handshakeTimeout time.Duration

func (t handshakeTimeout) Error() string {
	return "TLS handshake timeout after " + time.Duration(t).String()
}
func (handshakeTimeout) Timeout() bool   { return true }
func (handshakeTimeout) Temporary() bool { return true }
