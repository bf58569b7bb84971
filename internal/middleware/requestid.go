package middleware

import (
	"context"
	"crypto/rand"
	"net/http"
	"regexp"

	"github.com/go-chi/chi/v5/middleware"
)

// An id that a proxy in front has given is kept where it is harmless in a log line.
var harmlessID = regexp.MustCompile(`^[A-Za-z0-9._-]{8,64}$`)

// RequestID names the request; chi's GetReqID reads the name.
func RequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(middleware.RequestIDHeader)
		if !harmlessID.MatchString(id) {
			id = rand.Text()
		}
		w.Header().Set(middleware.RequestIDHeader, id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), middleware.RequestIDKey, id)))
	})
}
