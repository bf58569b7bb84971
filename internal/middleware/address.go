package middleware

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5/middleware"
)

// ClientAddress sets the client address for chi's GetClientIP: the peer's, or that in X-Forwarded-For from a
// trusted proxy. A trusted proxy without a valid header is itself the client, so no request is without an
// address.
func ClientAddress(trusted []netip.Prefix) Middleware {
	if len(trusted) == 0 {
		return middleware.ClientIPFromRemoteAddr
	}
	prefixes := make([]string, len(trusted))
	for i, p := range trusted {
		prefixes[i] = p.String()
	}
	forwarded := middleware.ClientIPFromXFF(prefixes...)
	return func(next http.Handler) http.Handler {
		peers := middleware.ClientIPFromRemoteAddr(next)
		return forwarded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if middleware.GetClientIPAddr(r.Context()).IsValid() {
				next.ServeHTTP(w, r)
				return
			}
			peers.ServeHTTP(w, r)
		}))
	}
}

// ClientAddressFunc returns a function that finds the client address as [ClientAddress] does, for handlers
// outside the envelope. It does not copy the request, because every agent call uses it. The result is invalid
// for a peer without an address, such as a Unix socket.
func ClientAddressFunc(trusted []netip.Prefix) func(*http.Request) netip.Addr {
	return func(r *http.Request) netip.Addr {
		peer := peerAddress(r.RemoteAddr)
		if !containsAddress(trusted, peer.WithZone("")) {
			return peer
		}
		if addr := forwardedAddress(r.Header["X-Forwarded-For"], trusted); addr.IsValid() {
			return addr
		}
		return peer
	}
}

func peerAddress(remote string) netip.Addr {
	if addr, err := netip.ParseAddrPort(remote); err == nil {
		return addr.Addr().Unmap()
	}
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	addr, _ := netip.ParseAddr(host) // invalid for anything else
	return addr.Unmap()
}

// forwardedAddress returns the last address that is no trusted proxy's. It is invalid behind anything that is
// not an address.
func forwardedAddress(lists []string, trusted []netip.Prefix) netip.Addr {
	for _, list := range slices.Backward(lists) {
		for list != "" {
			field := list
			if comma := strings.LastIndexByte(list, ','); comma >= 0 {
				list, field = list[:comma], list[comma+1:]
			} else {
				list = ""
			}
			if field = strings.TrimSpace(field); field == "" {
				continue
			}
			addr, err := netip.ParseAddr(field)
			if err != nil {
				return netip.Addr{}
			}
			if addr = addr.Unmap().WithZone(""); !containsAddress(trusted, addr) {
				return addr
			}
		}
	}
	return netip.Addr{}
}

// isFromTrusted reports whether a trusted proxy sent the request.
func isFromTrusted(trusted []netip.Prefix, r *http.Request) bool {
	return len(trusted) > 0 && containsAddress(trusted, peerAddress(r.RemoteAddr).WithZone(""))
}

func containsAddress(networks []netip.Prefix, addr netip.Addr) bool {
	for _, n := range networks {
		if n.Contains(addr) {
			return true
		}
	}
	return false
}
