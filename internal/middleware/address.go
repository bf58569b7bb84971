package middleware

import (
	"net/http"
	"net/netip"

	"github.com/go-chi/chi/v5/middleware"
)

// ClientAddress establishes where a request comes from, for chi's GetClientIP: the peer of the connection, or what a
// trusted proxy says in X-Forwarded-For.
func ClientAddress(trusted []netip.Prefix) Middleware {
	if len(trusted) == 0 {
		return middleware.ClientIPFromRemoteAddr
	}
	prefixes := make([]string, len(trusted))
	for i, p := range trusted {
		prefixes[i] = p.String()
	}
	return middleware.ClientIPFromXFF(prefixes...)
}

// AddressOf reads where a request comes from as [ClientAddress] does, for a door that stands outside the envelope.
func AddressOf(trusted []netip.Prefix) func(*http.Request) netip.Addr {
	establish := ClientAddress(trusted)
	return func(r *http.Request) (from netip.Addr) {
		establish(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			from = middleware.GetClientIPAddr(r.Context())
		})).ServeHTTP(nil, r)
		return from
	}
}
