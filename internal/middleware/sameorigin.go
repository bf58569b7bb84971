package middleware

import (
	"net/http"
	"net/url"
	"strings"

	"patchbay/internal/fault"
)

// SameOrigin refuses a write that a browser sends from another site's page. The base URL's origin is ours even where a
// proxy in front talks to us under another name. A request with a bearer token is a program's and is judged by that alone:
// no browser adds one by itself, as it does the password that a proxy in front once asked for (Basic).
func SameOrigin(base *url.URL, refuse Refuse) Middleware {
	protection := http.NewCrossOriginProtection()
	if err := protection.AddTrustedOrigin(base.Scheme + "://" + base.Host); err != nil {
		panic(err) // a base URL is checked before anything is built with it
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !hasBearer(r) {
				if err := protection.Check(r); err != nil {
					refuse(w, r, fault.Wrap(fault.Denied, err, "This was sent from a page of another site, and is refused."))
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

func hasBearer(r *http.Request) bool {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer")
}
