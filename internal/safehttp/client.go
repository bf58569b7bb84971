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

	"patchbay/internal/fasthttp/httpclient"
	"patchbay/internal/fasthttp/tcp"
	"patchbay/internal/safe"
)

const (
	connectTimeout = 10 * time.Second
	lookupTimeout  = 2 * time.Second // with a proxy, which resolves the name itself
	idleTimeout    = 90 * time.Second
	maxHeaderBytes = 64 << 10
	// Agents call one server many times in parallel. A new connection costs more than ten calls, an idle one
	// about 20 KiB.
	maxIdle        = 1000
	maxIdlePerHost = 64
	readBuffer     = 16 << 10 // fits a usual response
)

func newClient(p *Policy, o Options) *http.Client {
	d := &dialer{policy: p, resolver: o.Resolver, proxy: o.Proxy, roots: o.RootCAs, plainNet: o.Standard}
	p.dialer = d
	general := &partitionedTransport{&http.Transport{
		Proxy:                  nil, // not from the environment: the dialer knows the operator's proxy
		DialContext:            d.dialPartition,
		DialTLSContext:         d.dialTLSPartition,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		ReadBufferSize:         readBuffer,
	}}
	rt := &roundTripper{known: allowedURLs{policy: p}, userAgent: o.UserAgent, next: general}
	// To a proxy over TLS no request is plain HTTP, and no socket can be inspected.
	if viaTLS := o.Proxy != nil && o.Proxy.scheme == "https"; !o.Standard && !viaTLS {
		rt.next = newPlainTransport(d, general)
	}
	p.transport = rt
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     rt,
	}
}

// newPlainTransport returns the transport of plain HTTP requests. It leaves all others to next.
func newPlainTransport(d *dialer, next http.RoundTripper) *httpclient.Transport {
	return &httpclient.Transport{
		Dial:           d.dialChecked,
		Fallback:       next,
		MaxIdle:        maxIdle,
		MaxIdlePerHost: maxIdlePerHost,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		ReadBuffer:     readBuffer,
	}
}

// roundTripper checks the URL of every request, because the URL and the policy may have changed since the URL
// was entered.
type roundTripper struct {
	known     allowedURLs
	userAgent string
	next      partitionTransport
}

// partitionTransport keeps the connections of each partition apart.
type partitionTransport interface {
	RoundTripPartition(partition string, r *http.Request) (*http.Response, error)
	CloseIdleConnections()
}

// RoundTrip sends one request if the policy allows it, in the partition of its context's tenant.
func (t *roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.sendRequest(tenantFromContext(r.Context()), r)
}

// sendRequest sends one request of a tenant if the policy allows it. A panic becomes an error: libraries send
// requests in goroutines that do not recover.
func (t *roundTripper) sendRequest(tenant string, r *http.Request) (resp *http.Response, err error) {
	defer func() {
		if v := recover(); v != nil {
			resp, err = nil, safe.Caught(safe.Upstream, v)
			closeBody(r)
		}
	}()
	if err := t.known.checkURL(r.URL); err != nil {
		closeBody(r)
		return nil, asDialError(err)
	}
	if t.userAgent != "" && r.Header.Get("User-Agent") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("User-Agent", t.userAgent)
	}
	return t.sendTraced(tenant, r)
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

// asDialError wraps err like an error of the dialer, so that callers know that nothing was sent.
func asDialError(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }

// dialer resolves a name for each connection, and connects if the policy allows the address.
type dialer struct {
	policy    *Policy
	resolver  *net.Resolver
	proxy     *Proxy // nil: no proxy
	roots     *x509.CertPool
	plainNet  bool                       // connections of package net instead of package tcp
	checkDial func(netip.AddrPort) error // for tests: may fail a connection to an allowed address; nil: not called
}

func (d *dialer) dialChecked(ctx context.Context, network, address string) (net.Conn, error) {
	host, port := parseHostPort(address)
	if d.proxy != nil && !isLoopbackHost(host) { // loopback never goes through the proxy
		return d.throughProxy(ctx, host, port)
	}
	named := d.policy.allowsHost(host, port)
	nd := net.Dialer{
		Timeout:  connectTimeoutFrom(ctx),
		Resolver: d.resolver,
		// Control gets each address right before the connect, so that nothing can change in between. Package
		// net calls it in its own goroutines if a name has addresses of both families.
		Control: func(network, address string, _ syscall.RawConn) (err error) {
			defer safe.RecoverTo(safe.Upstream, &err)
			at, err := netip.ParseAddrPort(address)
			if err != nil || !strings.HasPrefix(network, "tcp") {
				return hideAddress(host, newBlockedError(address, "The address %s can't be read."))
			}
			if err := hideAddress(host, d.policy.checkAddress(at, named)); err != nil || d.checkDial == nil {
				return err
			}
			return d.checkDial(at)
		},
	}
	c, err := nd.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return d.wrapConn(c), nil
}

// wrapConn returns c with the reads and writes of package tcp, unless plainNet is set.
func (d *dialer) wrapConn(c net.Conn) net.Conn {
	if d.plainNet {
		return c
	}
	return tcp.WrapConn(c)
}

// throughProxy connects to a host through the proxy if every address known here is allowed. The proxy resolves
// the name again.
func (d *dialer) throughProxy(ctx context.Context, host string, port uint16) (net.Conn, error) {
	named := d.policy.allowsHost(host, port)
	for _, addr := range d.lookupHost(ctx, host) {
		err := d.policy.checkAddress(netip.AddrPortFrom(addr, port), named)
		if err == nil && addr.Unmap().IsLoopback() { // it would be the proxy's loopback
			err = newBlockedError(host, "The name %s is this machine and can't be reached through a proxy.")
		}
		if err != nil {
			return nil, asDialError(hideAddress(host, err))
		}
	}
	c, err := d.proxy.connectTo(ctx, d.roots, net.JoinHostPort(host, strconv.Itoa(int(port))))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, asDialError(err)
	}
	return d.wrapConn(c), nil
}

// lookupHost returns the addresses of a host. It returns none if the local DNS does not know public names, as
// behind many proxies.
func (d *dialer) lookupHost(ctx context.Context, host string) []netip.Addr {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, _ := d.resolver.LookupNetIP(ctx, "ip", host)
	return addrs
}
