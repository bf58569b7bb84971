package respond

import (
	"net/http"
	"net/url"
	"strings"
)

// OwnPath returns raw if it is a path of this site, with its query. It returns fallback for anything that a
// browser could take for another site's address: //evil.example, /\evil.example, a scheme, a control character.
func OwnPath(raw, fallback string) string {
	if !strings.HasPrefix(raw, "/") || strings.HasPrefix(raw, "//") || strings.ContainsFunc(raw, isUnsafe) {
		return fallback
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || strings.HasPrefix(u.Path, "//") {
		return fallback
	}
	return u.RequestURI()
}

// isUnsafe reports whether browsers drop or rewrite a character in an address, or a path cannot have it.
func isUnsafe(c rune) bool { return c <= ' ' || c == '\\' || c >= 0x7f }

// CameFrom is the page of this site in Referer, or fallback.
func CameFrom(r *http.Request, fallback string) string {
	u, err := url.Parse(r.Referer())
	if err != nil || u.Host != r.Host {
		return fallback
	}
	return OwnPath(u.RequestURI(), fallback)
}
