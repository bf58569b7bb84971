package respond

import (
	"net/http"
	"net/url"
	"strings"
)

// OwnPath returns raw if it is a path of this site, with its query, and fallback for anything that a browser could take
// for another site's address: //evil.example, /\evil.example, a scheme, a control character.
func OwnPath(raw, fallback string) string {
	if !strings.HasPrefix(raw, "/") || strings.HasPrefix(raw, "//") || strings.ContainsFunc(raw, unsafe) {
		return fallback
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || strings.HasPrefix(u.Path, "//") {
		return fallback
	}
	return u.RequestURI()
}

// unsafe tells what browsers drop or rewrite in an address before they read it, and what has no place in a path.
func unsafe(c rune) bool { return c <= ' ' || c == '\\' || c >= 0x7f }

// CameFrom is the page of ours that sent a form, by its Referer; fallback where it is not known or not ours.
func CameFrom(r *http.Request, fallback string) string {
	u, err := url.Parse(r.Referer())
	if err != nil || u.Host != r.Host {
		return fallback
	}
	return OwnPath(u.RequestURI(), fallback)
}
