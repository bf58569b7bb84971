package middleware

import (
	"net/http"
	"strings"
)

// policy lets a page use what this site serves, and nothing else: no inline script or style, no other origin.
var policy = strings.Join([]string{
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

// AllowFormsTo lets the forms of this one answer lead to other places as well: origins ("https://example.com") or schemes
// ("https:"). Anything that is neither is left out.
func AllowFormsTo(h http.Header, sources ...string) {
	allowed := policy
	for _, s := range sources {
		if s != "" && !strings.ContainsFunc(s, endsSource) {
			allowed += " " + s
		}
	}
	h.Set(policyHeader, allowed)
}

// endsSource tells what separates the parts of a policy.
func endsSource(r rune) bool { return r <= ' ' || r == ';' || r == ',' || r == '\'' || r > '~' }

// Headers sets the security headers of every answer. https says that people reach us by https, so that browsers may be
// told to insist on it.
func Headers(https bool) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set(policyHeader, policy)
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
