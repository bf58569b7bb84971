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

// appSchemes are those of well-known programs on people's machines that have no reverse domain name for a scheme (RFC 8252 §7.1 asks for one,
// which is what any other program needs).
var appSchemes = []string{"cursor", "vscode", "vscode-insiders", "vscodium", "windsurf", "zed", "claude"}

// unfit says what is wrong with a program's redirect URIs; empty: nothing.
func unfit(uris []string) string {
	if len(uris) == 0 || len(uris) > maxRedirects {
		return "it names no redirect URI, or more than 20"
	}
	for _, raw := range uris {
		if !redirectable(raw) {
			return "one of its redirect URIs is neither https://, nor http:// on the person's own machine, nor of a program there"
		}
	}
	return ""
}

// redirectable tells whether a browser may be sent to a URI with a code.
func redirectable(raw string) bool {
	if len(raw) > maxRedirect || strings.ContainsFunc(raw, odd) || strings.ContainsAny(raw, "#\\<>\"`{}|^") {
		return false
	}
	u, err := url.Parse(raw)
	if err != nil || u.User != nil || !strings.HasPrefix(raw, u.Scheme+":") { // the scheme in lower case
		return false
	}
	switch u.Scheme {
	case "https":
		return u.Opaque == "" && u.Hostname() != ""
	case "http":
		return u.Opaque == "" && onThisMachine(u.Hostname())
	default:
		return strings.Contains(u.Scheme, ".") || slices.Contains(appSchemes, u.Scheme)
	}
}

// odd tells what no URI holds, and what browsers drop or rewrite before they read one.
func odd(r rune) bool { return r <= ' ' || r > '~' }

// onThisMachine tells whether a host is the person's own machine (RFC 8252 §7.3, §8.3).
func onThisMachine(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (addr == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || addr == netip.IPv6Loopback())
}

// registered tells whether an answer may go to a URI: it is one of the program's, character by character. On the person's own machine the port
// may be another one, which a program there cannot know beforehand (RFC 8252 §7.3).
func (c Client) registered(uri string) bool {
	if !redirectable(uri) {
		return false
	}
	return slices.Contains(c.RedirectURIs, uri) ||
		slices.ContainsFunc(c.RedirectURIs, func(known string) bool {
			a, ok := withoutPort(known)
			b, also := withoutPort(uri)
			return ok && also && a == b
		})
}

// withoutPort is a URI on the person's own machine without its port; ok is false for any other.
func withoutPort(raw string) (bare string, ok bool) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" || !onThisMachine(u.Hostname()) {
		return "", false
	}
	rest, ok := strings.CutPrefix(raw, "http://"+u.Host)
	return "http://" + strings.TrimSuffix(u.Host, ":"+u.Port()) + rest, ok
}

// withAnswer is a redirect URI with parameters behind its own.
func withAnswer(uri string, answer url.Values) string {
	separator := "?"
	if strings.Contains(uri, "?") {
		separator = "&"
	}
	return uri + separator + answer.Encode()
}

// Place says where the answer to a request goes.
type Place struct {
	Host  string // of a web site, or with the port on the person's own machine
	Local bool   // on the person's own machine: a program in a browser's reach, or whoever else listens there
	App   string // the scheme by which a program on the person's machine is reached
}

func placeOf(uri string) Place {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return Place{}
	case u.Scheme != "http" && u.Scheme != "https":
		return Place{App: u.Scheme, Local: true}
	default:
		return Place{Host: u.Host, Local: onThisMachine(u.Hostname())}
	}
}
