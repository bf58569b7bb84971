package gateway

import (
	"net/http"
	"net/netip"
	"net/url"
)

// setHeaders sets the headers of every response. Browsers must neither render nor cache it.
func (h *Handler) setHeaders(header http.Header) {
	header["X-Content-Type-Options"] = noSniff
	header["Cache-Control"] = noStore
	if h.https {
		header["Strict-Transport-Security"] = strictTransport
	}
}

// The values are shared by all responses and must not be modified.
var (
	noSniff         = []string{"nosniff"}
	noStore         = []string{"no-store"}
	strictTransport = []string{"max-age=31536000; includeSubDomains"}
)

// isCrossOrigin reports whether a browser sent the request from another site's page. Programs send no Origin.
// With a loopback base URL, any loopback name is accepted if it equals the Host.
func (h *Handler) isCrossOrigin(r *http.Request) bool {
	origins := r.Header["Origin"]
	if len(origins) == 0 || len(origins) == 1 && origins[0] == h.origin {
		return false
	}
	if len(origins) > 1 {
		return true
	}
	from, err := url.Parse(origins[0])
	return err != nil || !h.isLocal || from.Host != r.Host || !isLoopback(from.Hostname())
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
