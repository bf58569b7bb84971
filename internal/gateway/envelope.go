package gateway

import (
	"net/http"
	"net/netip"
	"net/url"
)

// setHeaders sets what every answer says. It is for programs: a browser gets to render nothing of it, and to keep nothing.
func (h *Handler) setHeaders(header http.Header) {
	header["X-Content-Type-Options"] = noSniff
	header["Cache-Control"] = noStore
	if h.https {
		header["Strict-Transport-Security"] = strictTransport
	}
}

// The values are shared by all answers, which replace them and never write into them.
var (
	noSniff         = []string{"nosniff"}
	noStore         = []string{"no-store"}
	strictTransport = []string{"max-age=31536000; includeSubDomains"}
)

// foreign tells whether a browser sent the request from another site's page. Programs send no Origin. On this machine every name of
// it will do, as long as it is the one that was asked for.
func (h *Handler) foreign(r *http.Request) bool {
	origins := r.Header["Origin"]
	if len(origins) == 0 || len(origins) == 1 && origins[0] == h.origin {
		return false
	}
	if len(origins) > 1 {
		return true
	}
	from, err := url.Parse(origins[0])
	return err != nil || !h.local || from.Host != r.Host || !loopback(from.Hostname())
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
