package middleware

import (
	"net/http"
	"strings"
)

// contentSecurityPolicy allows a page this site's files only: no inline script or style, no other origin.
var contentSecurityPolicy = strings.Join([]string{
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'self'",
	"img-src 'self' data:",
	"font-src 'self'",
	"connect-src 'self'",
	"base-uri 'none'",
	"frame-ancestors 'none'",
	"form-action 'self'", // last: AllowFormsTo adds to it
}, "; ")

const policyHeader = "Content-Security-Policy"

// AllowFormsTo adds form targets to this response's policy: origins ("https://example.com") or schemes
// ("https:"). Other values are ignored.
func AllowFormsTo(h http.Header, sources ...string) {
	allowed := contentSecurityPolicy
	for _, s := range sources {
		if s != "" && !strings.ContainsFunc(s, endsPolicySource) {
			allowed += " " + s
		}
	}
	h.Set(policyHeader, allowed)
}

// endsPolicySource reports whether r cannot be part of a policy source.
func endsPolicySource(r rune) bool { return r <= ' ' || r == ';' || r == ',' || r == '\'' || r > '~' }

// Headers sets the security headers. https means that the public URL is https, so Strict-Transport-Security is
// sent.
func Headers(https bool) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set(policyHeader, contentSecurityPolicy)
			h.Set("X-Content-Type-Options", "nosniff")
			h.Set("Referrer-Policy", "same-origin")
			h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
			h.Set("Cross-Origin-Opener-Policy", "same-origin")
			h.Set("Cache-Control", "no-store") // static files set their own
			if https {
				h.Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
			}
			next.ServeHTTP(w, r)
		})
	}
}
