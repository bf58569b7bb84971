package middleware

import (
	"net/http"
	"net/url"

	"patchbay/internal/fault"
)

// SameOrigin refuses a write that a browser sends from another site's page. The base URL's origin is ours even where a
// proxy in front talks to us under another name. A request with an Authorization header is a program's: no browser adds
// one by itself, and it is judged by that header alone.
func SameOrigin(base *url.URL, refuse Refuse) Middleware {
	protection := http.NewCrossOriginProtection()
	if err := protection.AddTrustedOrigin(base.Scheme + "://" + base.Host); err != nil {
		panic(err) // a base URL is checked before anything is built with it
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "" {
				if err := protection.Check(r); err != nil {
					refuse(w, r, fault.Wrap(fault.Denied, err, "This was sent from a page of another site, and is refused."))
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}
