package serve

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// local refuses what a page of somebody else's could make a browser send (DNS rebinding): over a loopback address requests are for
// this machine by name, and an Origin is the host that was asked for.
func local(r *http.Request) bool {
	address, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if address != nil && loopback(address.String()) && !loopback(r.Host) {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	from, err := url.Parse(origin)
	return err == nil && (strings.EqualFold(from.Host, r.Host) || loopback(from.Host) && loopback(r.Host))
}

// loopback tells whether a host, with or without a port, is this machine.
func loopback(host string) bool {
	name := host
	if before, _, err := net.SplitHostPort(host); err == nil {
		name = before
	}
	name = strings.Trim(name, "[]")
	if strings.EqualFold(name, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.IsLoopback()
}
