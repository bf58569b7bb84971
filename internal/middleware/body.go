package middleware

import (
	"io"
	"net/http"
)

// MaxBody is the largest request body that is read, in bytes.
const MaxBody = 4 << 20

// limited is a body of which no more than a limit is read.
type limited struct {
	io.ReadCloser
	all io.ReadCloser
}

// LimitBody makes reading past n bytes of a body fail with *http.MaxBytesError.
func LimitBody(n int64) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Body = limited{http.MaxBytesReader(w, r.Body, n), r.Body}
			next.ServeHTTP(w, r)
		})
	}
}

// RaiseLimit lets n bytes of a request's body be read in place of [LimitBody]'s, where nothing of it was read yet.
func RaiseLimit(w http.ResponseWriter, r *http.Request, n int64) {
	if body, ok := r.Body.(limited); ok {
		r.Body = http.MaxBytesReader(w, body.all, n)
	}
}
