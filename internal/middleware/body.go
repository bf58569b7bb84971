package middleware

import (
	"io"
	"net/http"
)

// MaxBody bounds a request body, in bytes.
const MaxBody = 4 << 20

// MaxDocumentBody bounds the body of a request with the document of an HTTP API, in bytes. JSON may double the document's 16 MiB.
const MaxDocumentBody = 2*(16<<20) + MaxBody

// limitedBody is a bounded body that keeps the unbounded one for SetBodyLimit.
type limitedBody struct {
	io.ReadCloser
	unlimited io.ReadCloser
}

// LimitBody makes reading past n bytes of a body fail with *http.MaxBytesError.
func LimitBody(n int64) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Body = limitedBody{http.MaxBytesReader(w, r.Body, n), r.Body}
			next.ServeHTTP(w, r)
		})
	}
}

// SetBodyLimit replaces the bound of [LimitBody] for this request. Nothing of the body must have been read.
func SetBodyLimit(w http.ResponseWriter, r *http.Request, n int64) {
	if body, ok := r.Body.(limitedBody); ok {
		r.Body = http.MaxBytesReader(w, body.unlimited, n)
	}
}
