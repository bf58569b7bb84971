package middleware

import "net/http"

// MaxBody is the largest request body that is read, in bytes.
const MaxBody = 4 << 20

// LimitBody makes reading past n bytes of a body fail with *http.MaxBytesError.
func LimitBody(n int64) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, n)
			next.ServeHTTP(w, r)
		})
	}
}
