package authserver

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

const (
	maxRedirects = 20
	maxRedirect  = 2000 // characters
)

// appSchemes are the private-use schemes of well-known native apps that are no reverse domain names. Others
// need one (RFC 8252 section 7.1).
var appSchemes = []string{"cursor", "vscode", "vscode-insiders", "vscodium", "windsurf", "zed", "claude"}

// checkRedirectURIs describes what is wrong with a client's redirect URIs; empty: nothing.
func checkRedirectURIs(uris []string) string {
	if len(uris) == 0 || len(uris) > maxRedirects {
		return "1 to 20 redirect URIs are required"
	}
	for _, raw := range uris {
		if !isAllowedRedirect(raw) {
			return "a redirect URI must use https://, http:// on loopback, or a program's own scheme"
		}
	}
	return ""
}

// isAllowedRedirect reports whether a code may be sent to a URI.
func isAllowedRedirect(raw string) bool {
	if len(raw) > maxRedirect || strings.ContainsFunc(raw, isForbiddenRune) || strings.ContainsAny(raw, "#\\<>\"`{}|^") {
		return false
	}
	u, err := url.Parse(raw)
	if err != nil || u.User != nil || !strings.HasPrefix(raw, u.Scheme+":") { // lower-case scheme
		return false
	}
	switch u.Scheme {
	case "https":
		return u.Opaque == "" && u.Hostname() != ""
	case "http":
		return u.Opaque == "" && isLoopbackHost(u.Hostname())
	default:
		return strings.Contains(u.Scheme, ".") || slices.Contains(appSchemes, u.Scheme)
	}
}

// isForbiddenRune reports whether URIs cannot contain r, or browsers drop or rewrite it.
func isForbiddenRune(r rune) bool { return r <= ' ' || r > '~' }

// isLoopbackHost reports whether a host is the local machine (RFC 8252 sections 7.3 and 8.3).
func isLoopbackHost(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (addr == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || addr == netip.IPv6Loopback())
}

// hasRedirectURI reports whether a URI is registered, by exact comparison. On loopback the port may differ (RFC
// 8252 section 7.3).
func (c Client) hasRedirectURI(uri string) bool {
	if !isAllowedRedirect(uri) {
		return false
	}
	return slices.Contains(c.RedirectURIs, uri) ||
		slices.ContainsFunc(c.RedirectURIs, func(known string) bool {
			a, ok := withoutPort(known)
			b, also := withoutPort(uri)
			return ok && also && a == b
		})
}

// withoutPort returns a loopback URI without its port; ok is false for others.
func withoutPort(raw string) (bare string, ok bool) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" || !isLoopbackHost(u.Hostname()) {
		return "", false
	}
	rest, ok := strings.CutPrefix(raw, "http://"+u.Host)
	return "http://" + strings.TrimSuffix(u.Host, ":"+u.Port()) + rest, ok
}

// addParameters appends query parameters to a redirect URI.
func addParameters(uri string, answer url.Values) string {
	separator := "?"
	if strings.Contains(uri, "?") {
		separator = "&"
	}
	return uri + separator + answer.Encode()
}

// RedirectTarget describes the receiver of an authorization response.
type RedirectTarget struct {
	Host  string // of a web site, or loopback with port
	Local bool   // loopback: any local program may listen there
	App   string // private-use scheme of a native app
}

func toRedirectTarget(uri string) RedirectTarget {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return RedirectTarget{}
	case u.Scheme != "http" && u.Scheme != "https":
		return RedirectTarget{App: u.Scheme, Local: true}
	default:
		return RedirectTarget{Host: u.Host, Local: isLoopbackHost(u.Hostname())}
	}
}
