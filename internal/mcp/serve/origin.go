package serve

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// isLocalRequest protects a local server from DNS rebinding: on a loopback address the Host must be loopback,
// and an Origin must match the Host.
func isLocalRequest(r *http.Request) bool {
	address, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if address != nil && isLoopback(address.String()) && !isLoopback(r.Host) {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	from, err := url.Parse(origin)
	return err == nil && (strings.EqualFold(from.Host, r.Host) || isLoopback(from.Host) && isLoopback(r.Host))
}

// isLoopback reports whether a host, with or without a port, is this machine.
func isLoopback(host string) bool {
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
