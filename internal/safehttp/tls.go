package safehttp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/url"

	"code.dny.dev/ssrf"

	"patchbay/internal/fault"
	"patchbay/internal/safe"
)

// syslogTLSPort is the port of syslog over TLS (RFC 5425 section 4.1). Only DialTLS may use it.
const syslogTLSPort = 6514

// newTLSPolicy returns a copy of p for DialTLS, which allows one more port.
func newTLSPolicy(p *Policy, d *dialer) *Policy {
	own := *p
	own.ports = append(append([]uint16{}, p.ports...), syslogTLSPort)
	own.guardian = ssrf.New(ssrf.WithPorts(own.ports...), ssrf.WithDeniedV4Prefixes(extraDenied))
	ownDialer := *d
	ownDialer.policy = &own
	own.dialer = &ownDialer
	return &own
}

// CheckTLS checks the address "host:port" of a TLS server, as CheckURL checks a URL. Port 6514 is allowed, too.
func (p *Policy) CheckTLS(address string) error {
	u, err := url.Parse("https://" + address)
	if err != nil || u.Host != address {
		return fault.Errorf(fault.Invalid, "Enter an address like tls://logs.example.com:6514.")
	}
	return p.tls.checkURL(u)
}

// DialTLS connects to the TLS server at "host:port". The same rules hold as for the client's requests. The server's
// certificate is verified with roots; nil: the policy's.
func (p *Policy) DialTLS(ctx context.Context, address string, roots *x509.CertPool) (_ *tls.Conn, err error) {
	defer safe.RecoverTo(safe.Upstream, &err)
	if err := p.CheckTLS(address); err != nil {
		return nil, asDialError(err)
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, asDialError(err)
	}
	plain, err := p.tls.dialer.dialChecked(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if roots == nil {
		roots = p.dialer.roots
	}
	c := tls.Client(plain, &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: host})
	timeout := connectTimeoutFrom(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, handshakeTimeout(timeout))
	defer cancel()
	if err := c.HandshakeContext(ctx); err != nil {
		_ = plain.Close()
		return nil, err
	}
	return c, nil
}
