package middleware

import (
	"context"
	"log/slog"
	"net/http"
)

// Identifier establishes who makes a request. It returns the request's context with the caller in it, and what the log
// line says of the caller.
type Identifier func(r *http.Request) (ctx context.Context, who []slog.Attr, err error)

// Identify lets only identified callers through.
func Identify(identify Identifier, refuse Refuse) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, who, err := identify(r)
			if err != nil {
				refuse(w, r, err)
				return
			}
			if n, ok := ctx.Value(noteKey{}).(*note); ok {
				n.attrs = who
			}
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}
