package safehttp

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"patchbay/internal/safehttp/h1"
	"patchbay/internal/socket"
)

const (
	connectTimeout = 10 * time.Second
	idleTimeout    = 90 * time.Second
	maxHeaderBytes = 64 << 10
	// Agents call one server many times at once. A connection that is given up and made anew costs more than ten calls, an idle one
	// about 20 KiB.
	maxIdle        = 1000
	maxIdlePerHost = 64
	readBuffer     = 16 << 10 // the reply of a usual call in one piece
)

func newClient(p *Policy, o Options) *http.Client {
	d := &dialer{policy: p, resolver: o.Resolver}
	p.dialer = d
	general := &http.Transport{
		Proxy:                  nil, // a proxy would connect where we may not
		DialContext:            d.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
		TLSHandshakeTimeout:    connectTimeout,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		ReadBufferSize:         readBuffer,
	}
	plain := &h1.Transport{
		Dial:           d.dial,
		Next:           general,
		MaxIdle:        maxIdle,
		MaxIdlePerHost: maxIdlePerHost,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		ReadBuffer:     readBuffer,
	}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &roundTripper{policy: p, userAgent: o.UserAgent, next: plain},
	}
}

// roundTripper checks the URL of every request: it may have changed since it was entered, and so may the policy.
type roundTripper struct {
	policy    *Policy
	userAgent string
	next      *h1.Transport
}

// RoundTrip sends one request where the policy allows it.
func (t *roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.policy.check(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, refused(err)
	}
	if t.userAgent != "" && r.Header.Get("User-Agent") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("User-Agent", t.userAgent)
	}
	return t.next.RoundTrip(r)
}

// CloseIdleConnections makes http.Client.CloseIdleConnections work.
func (t *roundTripper) CloseIdleConnections() { t.next.CloseIdleConnections() }

// refused is what a dialer answers: a request that was not sent is a connection that was not made.
func refused(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }

// dialer connects to what a name resolves to at this moment, where that is allowed.
type dialer struct {
	policy   *Policy
	resolver *net.Resolver
	allowed  func(netip.AddrPort) error // tests: an address that will be connected to, unless this fails; nil: nobody asks
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port := parseHostPort(address)
	named := d.policy.frees(host, port)
	nd := net.Dialer{
		Timeout:  connectTimeout,
		Resolver: d.resolver,
		// Control sees each address right before it is connected to, so that nothing can change in between.
		Control: func(network, address string, _ syscall.RawConn) error {
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
	return socket.Direct(c), nil
}
