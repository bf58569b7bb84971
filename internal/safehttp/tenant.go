package safehttp

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"

	"patchbay/internal/safe"
)

// Idle connections are kept for each tenant apart. A server, or what stands before several servers, may send more than it was asked for: on a
// connection that two tenants use, that could be read as the answer to the other one.

type tenantKey struct{}

// WithTenant returns a context for requests of a tenant, by its id. They go out on connections that no other tenant's requests use. Requests
// without a tenant are the installation's, and share theirs.
func WithTenant(ctx context.Context, tenant string) context.Context {
	return context.WithValue(ctx, tenantKey{}, tenant)
}

func tenantOf(ctx context.Context) string {
	tenant, _ := ctx.Value(tenantKey{}).(string)
	return tenant
}

// ClientFor returns a client whose requests are all of a tenant, by its id, whatever their contexts say. It is cheap: all clients of a policy
// share their transport.
func (p *Policy) ClientFor(tenant string) *http.Client {
	own := *p.client
	own.Transport = &tenantRoundTripper{of: p.transport, tenant: tenant}
	return &own
}

type tenantRoundTripper struct {
	of     *roundTripper
	tenant string
}

// RoundTrip sends one request where the policy allows it.
func (t *tenantRoundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.of.send(t.tenant, r)
}

// CloseIdleConnections closes those of all tenants.
func (t *tenantRoundTripper) CloseIdleConnections() { t.of.CloseIdleConnections() }

// partitioned is net/http's transport with connections for each partition. It has no such thing, and knows connections by host and port: so
// the host of a request's URL names the partition, too, until the connection is dialled. One transport for all partitions has one bound for
// all idle connections, and no goroutines of partitions that are idle.
type partitioned struct{ *http.Transport }

// separator stands between partition and host. No host that a policy lets pass has it.
const separator = "@"

// RoundTripIn sends one request on a connection of a partition.
func (t *partitioned) RoundTripIn(partition string, r *http.Request) (*http.Response, error) {
	if partition == "" {
		return t.Transport.RoundTrip(r)
	}
	to := *r.URL
	to.Host = "[" + partition + separator + r.URL.Hostname() + "]:" + portText(r)
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

func portText(r *http.Request) string {
	switch {
	case r.URL.Port() != "":
		return r.URL.Port()
	case r.URL.Scheme == "https":
		return "443"
	}
	return "80"
}

// dialIn connects to an address that may name a partition. net/http calls it, and reads and writes the connection, in goroutines of its own.
func (d *dialer) dialIn(ctx context.Context, network, address string) (c net.Conn, err error) {
	defer safe.RecoverTo(safe.Upstream, &err)
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if _, own, ok := strings.Cut(host, separator); ok {
		host = own
	}
	if c, err = d.dial(ctx, network, net.JoinHostPort(host, port)); err != nil || d.standard {
		return c, err
	}
	return recoveringConn{c}, nil
}

// recoveringConn is a connection whose panics are errors.
type recoveringConn struct{ net.Conn }

// Read reads.
func (c recoveringConn) Read(p []byte) (n int, err error) {
	defer safe.RecoverTo(safe.Upstream, &err)
	return c.Conn.Read(p)
}

// Write writes.
func (c recoveringConn) Write(p []byte) (n int, err error) {
	defer safe.RecoverTo(safe.Upstream, &err)
	return c.Conn.Write(p)
}

// dialTLSIn is dialIn and the TLS handshake, which needs the host without its partition.
func (d *dialer) dialTLSIn(ctx context.Context, network, address string) (_ net.Conn, err error) {
	defer safe.RecoverTo(safe.Upstream, &err)
	plain, err := d.dialIn(ctx, network, address)
	if err != nil {
		return nil, err
	}
	host, _, _ := net.SplitHostPort(address)
	if _, own, ok := strings.Cut(host, separator); ok {
		host = own
	}
	c := tls.Client(plain, &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: d.roots, ServerName: host, NextProtos: []string{"h2", "http/1.1"},
	})
	ctx, cancel := context.WithTimeoutCause(ctx, connectTimeout, errHandshake)
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

// errHandshake says that a server did not end its TLS handshake in time.
var errHandshake error = handshakeTimeout{}

type handshakeTimeout struct{}

func (handshakeTimeout) Error() string {
	return "TLS handshake timeout after " + connectTimeout.String()
}
func (handshakeTimeout) Timeout() bool   { return true }
func (handshakeTimeout) Temporary() bool { return true }
