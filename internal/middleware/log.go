package middleware

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/telemetry"
)

type logNoteKey struct{}

// logAttrs carries attributes from a handler to the log line.
type logAttrs struct {
	attrs           []slog.Attr
	isAuthenticated bool // by other means than a session or a key
}

// Log writes one line per response. It names the route's pattern but no path, query or header, because a setup
// link has its token in the query.
func Log(log *slog.Logger) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			started := time.Now()
			n := &logAttrs{}
			r = r.WithContext(context.WithValue(r.Context(), logNoteKey{}, n))
			wrapped := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
			// Deferred to also log aborted requests.
			defer func() { logResponse(log, r, wrapped, started, n.attrs) }()
			next.ServeHTTP(wrapped, r)
		})
	}
}

func logResponse(log *slog.Logger, r *http.Request, w middleware.WrapResponseWriter, started time.Time, caller []slog.Attr) {
	status := telemetry.FinalStatus(r, w.Status())
	if status == 0 {
		status = http.StatusOK
	}
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError {
		level = slog.LevelWarn // the cause has its own line and level
	}
	attrs := append([]slog.Attr{
		slog.String("request_id", middleware.GetReqID(r.Context())),
		slog.String("method", r.Method),
		slog.String("route", routePattern(r)),
		slog.Int("status", status),
		slog.Int("bytes", w.BytesWritten()),
		slog.Int64("duration_ms", time.Since(started).Milliseconds()),
		slog.String("address", middleware.GetClientIP(r.Context())),
	}, caller...)
	log.LogAttrs(r.Context(), level, "request answered", attrs...)
}

func routePattern(r *http.Request) string {
	if c := chi.RouteContext(r.Context()); c != nil && c.RoutePattern() != "" {
		return c.RoutePattern()
	}
	return "unmatched"
}
