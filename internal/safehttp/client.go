package safehttp

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"patchbay/internal/safe"
	"patchbay/internal/safehttp/h1"
	"patchbay/internal/socket"
)

const (
	connectTimeout = 10 * time.Second
	lookupPatience = 2 * time.Second // where a proxy will look the name up, too
	idleTimeout    = 90 * time.Second
	maxHeaderBytes = 64 << 10
	// Agents call one server many times at once. A connection that is given up and made anew costs more than ten calls, an idle one
	// about 20 KiB.
	maxIdle        = 1000
	maxIdlePerHost = 64
	readBuffer     = 16 << 10 // the reply of a usual call in one piece
)

func newClient(p *Policy, o Options) *http.Client {
	d := &dialer{policy: p, resolver: o.Resolver, proxy: o.Proxy, roots: o.RootCAs, standard: o.Standard}
	p.dialer = d
	general := &partitioned{&http.Transport{
		Proxy:                  nil, // of the environment: the operator's is the dialer's business
		DialContext:            d.dialIn,
		DialTLSContext:         d.dialTLSIn,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		ReadBufferSize:         readBuffer,
	}}
	rt := &roundTripper{known: known{policy: p}, userAgent: o.UserAgent, next: general}
	// Nothing is plain on its way to a proxy that is reached by TLS, and no socket can be looked at.
	if viaTLS := o.Proxy != nil && o.Proxy.scheme == "https"; !o.Standard && !viaTLS {
		rt.next = newPlainTransport(d, general)
	}
	p.transport = rt
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     rt,
	}
}

// newPlainTransport returns the transport of requests in plain HTTP. It leaves all others to next.
func newPlainTransport(d *dialer, next http.RoundTripper) *h1.Transport {
	return &h1.Transport{
		Dial:           d.dial,
		Next:           next,
		MaxIdle:        maxIdle,
		MaxIdlePerHost: maxIdlePerHost,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		ReadBuffer:     readBuffer,
	}
}

// roundTripper checks the URL of every request: it may have changed since it was entered, and so may the policy.
type roundTripper struct {
	known     known
	userAgent string
	next      transport
}

// transport keeps the connections of each partition apart.
type transport interface {
	RoundTripIn(partition string, r *http.Request) (*http.Response, error)
	CloseIdleConnections()
}

// RoundTrip sends one request where the policy allows it, as one of the tenant that its context names.
func (t *roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.send(tenantOf(r.Context()), r)
}

// send sends one request of a tenant where the policy allows it. A panic is an error: libraries send requests in goroutines that do not
// recover.
func (t *roundTripper) send(tenant string, r *http.Request) (resp *http.Response, err error) {
	defer func() {
		if v := recover(); v != nil {
			resp, err = nil, safe.Caught(safe.Upstream, v)
			closeBody(r)
		}
	}()
	if err := t.known.check(r.URL); err != nil {
		closeBody(r)
		return nil, refused(err)
	}
	if t.userAgent != "" && r.Header.Get("User-Agent") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("User-Agent", t.userAgent)
	}
	return t.traced(tenant, r)
}

// closeBody closes the body of a request that is not sent, as http.RoundTripper demands.
func closeBody(r *http.Request) {
	defer safe.Recover(safe.Upstream)
	if r.Body != nil {
		_ = r.Body.Close()
	}
}

// CloseIdleConnections makes http.Client.CloseIdleConnections work.
func (t *roundTripper) CloseIdleConnections() { t.next.CloseIdleConnections() }

// refused is what a dialer answers: a request that was not sent is a connection that was not made.
func refused(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }

// dialer connects to what a name resolves to at this moment, where that is allowed.
type dialer struct {
	policy   *Policy
	resolver *net.Resolver
	proxy    *Proxy // nil: there is none
	roots    *x509.CertPool
	standard bool                       // connections stay those of package net
	allowed  func(netip.AddrPort) error // tests: an address that will be connected to, unless this fails; nil: nobody asks
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port := parseHostPort(address)
	if d.proxy != nil && !isLoopbackHost(host) { // what stays on this machine does not leave
		return d.throughProxy(ctx, host, port)
	}
	named := d.policy.frees(host, port)
	nd := net.Dialer{
		Timeout:  connectTimeout,
		Resolver: d.resolver,
		// Control sees each address right before it is connected to, so that nothing can change in between.
		// Package net calls it in goroutines of its own where a name has addresses of both families.
		Control: func(network, address string, _ syscall.RawConn) (err error) {
			defer safe.RecoverTo(safe.Upstream, &err)
			at, err := netip.ParseAddrPort(address)
			if err != nil || !strings.HasPrefix(network, "tcp") {
				return ledTo(host, blocked(address, "The address %s cannot be read; Patchbay does not connect to it."))
			}
			if err := ledTo(host, d.policy.checkAddress(at, named)); err != nil || d.allowed == nil {
				return err
			}
			return d.allowed(at)
		},
	}
	c, err := nd.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return d.direct(c), nil
}

// direct returns c, read and written by package socket unless the dialer is a standard one.
func (d *dialer) direct(c net.Conn) net.Conn {
	if d.standard {
		return c
	}
	return socket.Direct(c)
}

// throughProxy has the proxy connect to a host where all that we know of it is allowed. It is the proxy who resolves the name then.
func (d *dialer) throughProxy(ctx context.Context, host string, port uint16) (net.Conn, error) {
	named := d.policy.frees(host, port)
	for _, addr := range d.known(ctx, host) {
		err := d.policy.checkAddress(netip.AddrPortFrom(addr, port), named)
		if err == nil && addr.Unmap().IsLoopback() { // that of the proxy's machine, and not ours
			err = blocked(host, "The name %s leads to this machine; Patchbay does not connect there through a proxy.")
		}
		if err != nil {
			return nil, refused(ledTo(host, err))
		}
	}
	c, err := d.proxy.connect(ctx, d.roots, net.JoinHostPort(host, strconv.Itoa(int(port))))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, refused(err)
	}
	return d.direct(c), nil
}

// known are the addresses that a host has for us: none where our network's own DNS knows no names of the world, as beside many proxies.
func (d *dialer) known(ctx context.Context, host string) []netip.Addr {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	addrs, _ := d.resolver.LookupNetIP(ctx, "ip", host)
	return addrs
}
