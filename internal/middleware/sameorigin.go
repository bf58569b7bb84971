package middleware

import (
	"net/http"
	"net/url"
	"strings"

	"patchbay/internal/fault"
)

// SameOrigin refuses a browser's write from another site's page. The base URL's origin is accepted even if a
// proxy uses another Host. A bearer token exempts a request, because browsers do not send one by themselves.
// They do send the password of a proxy (Basic).
func SameOrigin(base *url.URL, refuse ErrorWriter) Middleware {
	protection := http.NewCrossOriginProtection()
	if err := protection.AddTrustedOrigin(base.Scheme + "://" + base.Host); err != nil {
		panic(err) // the base URL was validated
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !hasBearer(r) {
				if err := protection.Check(r); err != nil {
					refuse(w, r, fault.Wrap(fault.Denied, err, "Refused: sent from another site."))
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
