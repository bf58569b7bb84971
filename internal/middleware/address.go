package middleware

import (
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
