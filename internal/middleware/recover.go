package middleware

import (
	"log/slog"
	"net/http"

	"github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/safe"
)

// Recover answers a request after a panic of its handler. It passes on http.ErrAbortHandler, which aborts the
// connection.
func Recover(log *slog.Logger, refuse ErrorWriter) Middleware {
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
				caught := safe.CaughtBy(log, safe.Handler, v, slog.String("request_id", middleware.GetReqID(r.Context())))
				if wrapped.Status() != 0 {
					panic(http.ErrAbortHandler) // a truncated response must not look complete
				}
				refuse(wrapped, r, caught)
			}()
			next.ServeHTTP(wrapped, r)
		})
	}
}
