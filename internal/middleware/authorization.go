package middleware

import (
	"net/http"

	"patchbay/internal/fault"
)

// RequireSingleAuthorization refuses requests with several Authorization fields. Handlers read the first, and a proxy may
// have checked another.
func RequireSingleAuthorization(refuse ErrorWriter) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if len(r.Header["Authorization"]) > 1 {
				refuse(w, r, fault.Errorf(fault.Malformed, "Send only one Authorization header."))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}
