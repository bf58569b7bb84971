package safehttp

import (
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"

	"code.dny.dev/ssrf"
)

// Mode decides which addresses are allowed.
type Mode string

// The modes.
const (
	Local  Mode = "local"
	Public Mode = "public"
)

// Options configure a policy.
type Options struct {
	Mode Mode // anything but Local is Public
	// Allow has the operator's exceptions.
	Allow []Exception
	// OwnHosts are Patchbay's own names and addresses, as "host" (any port) or "host:port". In mode Local a
	// loopback host counts only with its port, because other servers run there, too. In mode Public the port
	// does not matter, but an exception may allow another port of the same host.
	OwnHosts []string
	// UserAgent is the default User-Agent.
	UserAgent string
	// Resolver resolves names; nil: the system's.
	Resolver *net.Resolver
	// RootCAs are trusted; nil: the system's.
	RootCAs *x509.CertPool
	// Proxy gets all connections but those to loopback; nil: none.
	Proxy *Proxy
	// Standard makes net/http send all requests over connections of package net. Otherwise package httpclient sends
	// plain HTTP, and package tcp reads and writes the connections.
	Standard bool
}

// Policy decides where Patchbay may connect. It is safe for concurrent use.
type Policy struct {
	local     bool
	allow     []Exception
	ownHosts  []ownHost
	guardian  *ssrf.Guardian
	client    *http.Client
	transport *roundTripper
	dialer    *dialer
	ports     []uint16 // of public addresses
	tls       *Policy  // of DialTLS
}

type ownHost struct {
	host string
	port uint16 // 0: any
}

var (
	allowedPorts = []uint16{443, 8443}
	// extraDenied are global addresses that are local in fact: Azure's host, for its machines.
	extraDenied = netip.MustParsePrefix("168.63.129.16/32")
)

// New returns the policy for outbound requests.
func New(o Options) *Policy {
	p := &Policy{local: o.Mode == Local, allow: o.Allow, ports: allowedPorts}
	for _, text := range o.OwnHosts {
		host, port := parseHostPort(text)
		if host == "" || p.local && port == 0 && isLoopbackHost(host) {
			continue
		}
		p.ownHosts = append(p.ownHosts, ownHost{host, port})
	}
	p.guardian = ssrf.New(ssrf.WithPorts(p.ports...), ssrf.WithDeniedV4Prefixes(extraDenied))
	p.client = newClient(p, o)
	p.tls = newTLSPolicy(p, p.dialer)
	return p
}

// Client returns the client of this policy. It follows no redirects and uses no proxy but the operator's. The
// address of each connection is checked. Errors wrap a *BlockedError for a refusal, and a *ProxyError for a
// failure of the proxy.
func (p *Policy) Client() *http.Client { return p.client }

// isOwn reports whether host (a name, or an address in canonical form) and port are Patchbay's. excepted means
// that an exception allows them: then only Patchbay's own ports of the host count.
func (p *Policy) isOwn(host string, port uint16, excepted bool) bool {
	anyPort := !p.local && !excepted
	for _, own := range p.ownHosts {
		if own.host == host && (anyPort || own.port == 0 || own.port == port) {
			return true
		}
	}
	return false
}

// isOwnLoopback reports whether localhost with this port is Patchbay.
func (p *Policy) isOwnLoopback(port uint16) bool {
	return p.isOwn("localhost", port, true) || p.isOwn("127.0.0.1", port, true) || p.isOwn("::1", port, true)
}

// allowsHost reports whether an exception allows this host and port.
func (p *Policy) allowsHost(host string, port uint16) bool {
	for _, e := range p.allow {
		if e.matchesHost(host, port) {
			return true
		}
	}
	return false
}

// allowsAddress reports whether an exception allows this address.
func (p *Policy) allowsAddress(at netip.AddrPort) bool {
	for _, e := range p.allow {
		if e.matchesAddress(at) {
			return true
		}
	}
	return false
}

func isLoopbackHost(host string) bool {
	addr, err := netip.ParseAddr(host)
	return isLocalhost(host) || err == nil && (addr.IsLoopback() || addr.IsUnspecified())
}
