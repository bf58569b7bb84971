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

// Refuse answers a request that goes no further.
type Refuse func(w http.ResponseWriter, r *http.Request, err error)

// Options configure an [Envelope].
type Options struct {
	BaseURL        *url.URL // where people reach the program
	TrustedProxies []netip.Prefix
	Log            *slog.Logger
	Refuse         Refuse
}

// compressible are the media types that shrink. An event stream is none of them: it would wait in the compressor.
var compressible = []string{
	"text/html", "text/css", "text/javascript", "text/plain", "application/json", "application/problem+json",
	"image/svg+xml",
}

// Envelope is what stands around every handler, outermost first.
func Envelope(o Options) []Middleware {
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
