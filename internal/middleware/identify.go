package middleware

import (
	"context"
	"log/slog"
	"net/http"
)

// Authenticator authenticates a request. It returns a context with the caller and the caller's log attributes.
type Authenticator func(r *http.Request) (ctx context.Context, who []slog.Attr, err error)

// Authenticate refuses requests without an identified caller.
func Authenticate(identify Authenticator, refuse ErrorWriter) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, attrs, err := identify(r)
			if err != nil {
				refuse(w, r, err)
				return
			}
			if n, ok := ctx.Value(logNoteKey{}).(*logAttrs); ok {
				n.attrs = attrs
			}
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}
