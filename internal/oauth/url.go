package oauth

import (
	"net/url"
	"strings"
)

const maxURLLength = 2048

// checkURL fails unless a document's URL is http or https and may be contacted; what names it in the error. A
// URL of a server's choice could reach internal hosts, or run a script in a browser.
func (c *Client) checkURL(step Step, what, raw string) *Error {
	u, ok := parsePlainURL(raw)
	if !ok {
		return newRefusal(step, "its %s is not an http or https URL", what)
	}
	if c.CheckURL == nil {
		if u.Scheme != "https" {
			return newRefusal(step, "its %s does not begin with https://", what)
		}
		return nil
	}
	if _, err := c.CheckURL(raw); err != nil {
		e := newRefusal(step, "its %s is not allowed", what)
		e.Err = err
		return e
	}
	return nil
}

// asciiURL returns a URL with its host in xn-- form, for requests. A host without that form stays, and checkURL
// refuses it.
func (c *Client) asciiURL(raw string) string {
	if c.ASCIIURL == nil {
		return raw
	}
	ascii, ok := c.ASCIIURL(raw)
	if !ok {
		return raw
	}
	return ascii
}

// parsePlainURL parses an http or https URL with a host, without userinfo, fragment or characters that must be
// escaped.
func parsePlainURL(raw string) (*url.URL, bool) {
	if len(raw) > maxURLLength || !isVisible(raw) || strings.ContainsAny(raw, "#\\<>\"`") {
		return nil, false
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" || u.User != nil || u.Hostname() == "" {
		return nil, false
	}
	return u, true
}

// isVisible reports whether a text is visible ASCII.
func isVisible(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// shownURL returns a URL's origin and path, safe to show: a query can hold a secret.
func shownURL(raw string) string {
	const longest = 200
	u, ok := parsePlainURL(raw)
	if !ok {
		return "(not a plain URL)"
	}
	text := u.Scheme + "://" + u.Host + u.EscapedPath()
	if u.RawQuery != "" {
		text += "?…"
	}
	if len(text) > longest {
		return text[:longest] + "…"
	}
	return text
}

// originURL returns scheme, host and port in canonical form.
func originURL(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		return u.Scheme + "://" + host
	}
	return u.Scheme + "://" + host + ":" + port
}

// wellKnown inserts a well-known name between origin and path (RFC 8414 section 3.1, RFC 9728 section 3.1), and
// drops one trailing slash.
func wellKnown(u *url.URL, name string) string {
	return u.Scheme + "://" + u.Host + "/.well-known/" + name + trimSlash(u.EscapedPath())
}

func trimSlash(s string) string { return strings.TrimSuffix(s, "/") }

// sameIssuer compares issuers as strings, ignoring one trailing slash.
func sameIssuer(a, b string) bool { return trimSlash(a) == trimSlash(b) }

// shownURL returns a URL's origin and path with an internationalised host as written: an issuer's two forms look
// different.
func (c *Client) shownURL(raw string) string {
	ascii := c.asciiURL(raw)
	written, err := url.Parse(raw)
	if u, ok := parsePlainURL(ascii); ok && err == nil && ascii != raw {
		return strings.Replace(shownURL(ascii), u.Host, written.Host, 1)
	}
	return shownURL(raw)
}

// coversResource reports whether a published resource covers a server's URL: equal but for one trailing slash,
// or a parent path at a segment boundary, on the same origin.
func coversResource(resource, server string) bool {
	r, ok := parsePlainURL(resource)
	s, fine := parsePlainURL(server)
	if !ok || !fine || originURL(r) != originURL(s) {
		return false
	}
	if r.RawQuery != "" && r.RawQuery != s.RawQuery {
		return false
	}
	parent, path := trimSlash(r.EscapedPath()), trimSlash(s.EscapedPath())
	if parent == path {
		return true
	}
	// "/a/.." is its parent, whatever its prefix.
	return !hasDots(r.Path) && !hasDots(s.Path) && strings.HasPrefix(path, parent+"/")
}

func hasDots(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}
