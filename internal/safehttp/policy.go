package safehttp

import (
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"

	"code.dny.dev/ssrf"
)

// Mode is how far Patchbay may reach.
type Mode string

// The modes.
const (
	Local  Mode = "local"
	Public Mode = "public"
)

// Options describe a policy.
type Options struct {
	Mode Mode // anything but Local is Public
	// Allow holds the operator's exceptions.
	Allow []Exception
	// OwnHosts are Patchbay's own names and addresses, as "host" (any port) or "host:port". In mode Local a loopback
	// host counts only with its port: other servers live there, too. In mode Public the port does not matter, except
	// that an exception may free another port of the same host.
	OwnHosts []string
	// UserAgent is sent where a request names none.
	UserAgent string
	// Resolver looks names up; nil: the system's.
	Resolver *net.Resolver
	// RootCAs are trusted; nil: the system's.
	RootCAs *x509.CertPool
	// Proxy is what everything goes through that leaves this machine; nil: nothing does.
	Proxy *Proxy
	// Standard has net/http send all requests over connections of package net. Otherwise package h1 sends those in plain HTTP, and package
	// socket reads and writes the connections.
	Standard bool
}

// Policy decides where Patchbay may connect. It is safe for concurrent use.
type Policy struct {
	local     bool
	allow     []Exception
	own       []ownHost
	guardian  *ssrf.Guardian
	client    *http.Client
	transport *roundTripper
	dialer    *dialer
}

type ownHost struct {
	host string
	port uint16 // 0: any
}

var (
	publicPorts = []uint16{443, 8443}
	localPorts  = []uint16{80, 443, 8443}
	// moreDenied are global addresses that mean a neighbour all the same: Azure's host is one for its machines.
	moreDenied = netip.MustParsePrefix("168.63.129.16/32")
)

// New makes a policy.
func New(o Options) *Policy {
	p := &Policy{local: o.Mode == Local, allow: o.Allow}
	for _, text := range o.OwnHosts {
		host, port := parseHostPort(text)
		if host == "" || p.local && port == 0 && isLoopbackHost(host) {
			continue
		}
		p.own = append(p.own, ownHost{host, port})
	}
	p.guardian = ssrf.New(ssrf.WithPorts(p.ports()...), ssrf.WithDeniedV4Prefixes(moreDenied))
	p.client = newClient(p, o)
	return p
}

// Client returns the one client of this policy. It follows no redirects and asks no proxy but the operator's; each of its
// connections is checked by the address that it goes to. A *BlockedError stands in the chain of what it refuses, a *ProxyError in
// that of what the proxy did not do.
func (p *Policy) Client() *http.Client { return p.client }

func (p *Policy) ports() []uint16 {
	if p.local {
		return localPorts
	}
	return publicPorts
}

// isOwn tells whether host (a name, or an address in its usual form) and port are Patchbay's. excepted says that an
// exception names them: on the machine where we run the operator may have other servers, but we are none of them.
func (p *Policy) isOwn(host string, port uint16, excepted bool) bool {
	anyPort := !p.local && !excepted
	for _, own := range p.own {
		if own.host == host && (anyPort || own.port == 0 || own.port == port) {
			return true
		}
	}
	return false
}

// isOwnLoopback tells whether localhost leads to Patchbay at this port.
func (p *Policy) isOwnLoopback(port uint16) bool {
	return p.isOwn("localhost", port, true) || p.isOwn("127.0.0.1", port, true) || p.isOwn("::1", port, true)
}

// frees tells whether an exception names this host and port.
func (p *Policy) frees(host string, port uint16) bool {
	for _, e := range p.allow {
		if e.frees(host, port) {
			return true
		}
	}
	return false
}

// covers tells whether an exception names this address.
func (p *Policy) covers(at netip.AddrPort) bool {
	for _, e := range p.allow {
		if e.covers(at) {
			return true
		}
	}
	return false
}

func isLoopbackHost(host string) bool {
	addr, err := netip.ParseAddr(host)
	return isLocalhost(host) || err == nil && (addr.IsLoopback() || addr.IsUnspecified())
}
