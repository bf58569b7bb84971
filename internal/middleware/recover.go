package middleware

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"

	"github.com/go-chi/chi/v5/middleware"
)

// Recover answers a request whose handler panicked. http.ErrAbortHandler goes on: it is how a handler cuts a connection.
func Recover(log *slog.Logger, refuse Refuse) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			wrapped := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
			defer func() {
				v := recover()
				if v == nil {
					return
				}
				if v == http.ErrAbortHandler { //nolint:errorlint // compared as net/http compares it
					panic(v)
				}
				log.ErrorContext(r.Context(), "handler panicked",
					"request_id", middleware.GetReqID(r.Context()), "panic", describe(v), "stack", string(debug.Stack()))
				if wrapped.Status() != 0 {
					panic(http.ErrAbortHandler) // half an answer must not look whole
				}
				refuse(wrapped, r, fmt.Errorf("handler panicked: %s", describe(v)))
			}()
			next.ServeHTTP(wrapped, r)
		})
	}
}

// describe names what a handler panicked with: the runtime's own words, and of anything else the type alone. It could hold
// what the request brought along.
func describe(v any) string {
	if err, ok := v.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", v)
}
