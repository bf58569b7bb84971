package middleware

import (
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/go-chi/chi/v5/middleware"
)

// Middleware wraps a handler.
type Middleware = func(http.Handler) http.Handler

// ErrorWriter writes the response of a refused request.
type ErrorWriter func(w http.ResponseWriter, r *http.Request, err error)

// Options configure an [Envelope].
type Options struct {
	BaseURL        *url.URL // public URL of Patchbay
	TrustedProxies []netip.Prefix
	Log            *slog.Logger
	Refuse         ErrorWriter
}

// compressible are the media types to compress. Event streams must not wait in a compressor.
var compressible = []string{
	"text/html", "text/css", "text/javascript", "text/plain", "application/json", "application/problem+json",
	"image/svg+xml",
}

// Chain returns the middleware of every handler, outermost first.
func Chain(o Options) []Middleware {
	return []Middleware{
		RequestID(o.TrustedProxies),
		ClientAddress(o.TrustedProxies),
		Log(o.Log),
		Recover(o.Log, o.Refuse),
		Headers(o.BaseURL.Scheme == "https"),
		middleware.Compress(5, compressible...),
		LimitBody(MaxBody),
		SameOrigin(o.BaseURL, o.Refuse),
		Language,
	}
}
