package middleware

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5/middleware"
)

// ClientAddress establishes where a request comes from, for chi's GetClientIP: the peer of the connection, or what a
// trusted proxy says in X-Forwarded-For. One that says nothing, or nothing that is an address, is the peer that it is: whoever connects from the
// proxies' network is not without an address for it.
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

// AddressOf reads where a request comes from as [ClientAddress] does, for a door that stands outside the envelope: without a copy of the
// request, since agents' calls go through it. It is not valid where the peer has no address, as that of a socket in the file system.
func AddressOf(trusted []netip.Prefix) func(*http.Request) netip.Addr {
	return func(r *http.Request) netip.Addr {
		peer := peerOf(r.RemoteAddr)
		if !isOf(trusted, peer.WithZone("")) {
			return peer
		}
		if at := forwarded(r.Header["X-Forwarded-For"], trusted); at.IsValid() {
			return at
		}
		return peer
	}
}

// peerOf is the address of the other end of a connection.
func peerOf(remote string) netip.Addr {
	if at, err := netip.ParseAddrPort(remote); err == nil {
		return at.Addr().Unmap()
	}
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	at, _ := netip.ParseAddr(host) // what is none is not valid
	return at.Unmap()
}

// forwarded is the last address of the list that is no trusted proxy's. Behind something that is no address nobody is believed.
func forwarded(lists []string, trusted []netip.Prefix) netip.Addr {
	for _, list := range slices.Backward(lists) {
		for list != "" {
			one := list
			if comma := strings.LastIndexByte(list, ','); comma >= 0 {
				list, one = list[:comma], list[comma+1:]
			} else {
				list = ""
			}
			if one = strings.TrimSpace(one); one == "" {
				continue
			}
			at, err := netip.ParseAddr(one)
			if err != nil {
				return netip.Addr{}
			}
			if at = at.Unmap().WithZone(""); !isOf(trusted, at) {
				return at
			}
		}
	}
	return netip.Addr{}
}

// fromOneOf tells whether a trusted proxy sends the request.
func fromOneOf(trusted []netip.Prefix, r *http.Request) bool {
	return len(trusted) > 0 && isOf(trusted, peerOf(r.RemoteAddr).WithZone(""))
}

func isOf(networks []netip.Prefix, at netip.Addr) bool {
	for _, n := range networks {
		if n.Contains(at) {
			return true
		}
	}
	return false
}
