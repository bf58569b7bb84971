package middleware

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

type noteKey struct{}

// note is what the inside of a request tells its log line.
type note struct {
	attrs   []slog.Attr
	welcome bool // they proved who they are in a way of their own
}

// Log writes one line for each answered request. It names the route's pattern, not the path, and neither query nor
// headers: a setup link carries its token in the query.
func Log(log *slog.Logger) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			started := time.Now()
			n := &note{}
			r = r.WithContext(context.WithValue(r.Context(), noteKey{}, n))
			wrapped := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
			// Deferred, so that an aborted request has its line, too.
			defer func() { writeLine(log, r, wrapped, started, n.attrs) }()
			next.ServeHTTP(wrapped, r)
		})
	}
}

func writeLine(log *slog.Logger, r *http.Request, w middleware.WrapResponseWriter, started time.Time, who []slog.Attr) {
	status := w.Status()
	if status == 0 {
		status = http.StatusOK
	}
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError {
		level = slog.LevelWarn // the cause stands in a line of its own, at its own level
	}
	attrs := append([]slog.Attr{
		slog.String("request_id", middleware.GetReqID(r.Context())),
		slog.String("method", r.Method),
		slog.String("route", route(r)),
		slog.Int("status", status),
		slog.Int("bytes", w.BytesWritten()),
		slog.Int64("duration_ms", time.Since(started).Milliseconds()),
		slog.String("address", middleware.GetClientIP(r.Context())),
	}, who...)
	log.LogAttrs(r.Context(), level, "request answered", attrs...)
}

func route(r *http.Request) string {
	if c := chi.RouteContext(r.Context()); c != nil && c.RoutePattern() != "" {
		return c.RoutePattern()
	}
	return "unmatched"
}
