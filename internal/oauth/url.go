package oauth

import (
	"net/url"
	"strings"
)

const maxURLLength = 2048

// checkURL tells whether a URL out of a document may be contacted or opened. what names it in the error. A URL of a
// server's choice is how a request reaches what only we can reach, and how a browser runs a script: nothing but http and
// https passes.
func (c *Client) checkURL(step Step, what, raw string) *Error {
	u, ok := plainURL(raw)
	if !ok {
		return refused(step, "its %s is not a plain http or https URL", what)
	}
	if c.CheckURL == nil {
		if u.Scheme != "https" {
			return refused(step, "its %s does not begin with https://", what)
		}
		return nil
	}
	if _, err := c.CheckURL(raw); err != nil {
		e := refused(step, "its %s is not one that may be contacted", what)
		e.Err = err
		return e
	}
	return nil
}

// plainURL reads an http or https URL with a host and without userinfo, fragment or characters that no URL holds
// unescaped.
func plainURL(raw string) (*url.URL, bool) {
	if len(raw) > maxURLLength || !isVisible(raw) || strings.ContainsAny(raw, "#\\<>\"`") {
		return nil, false
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" || u.User != nil || u.Hostname() == "" {
		return nil, false
	}
	return u, true
}

// isVisible tells whether a text is made of visible ASCII alone.
func isVisible(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// shownURL is a URL as it may stand in a sentence or a trace: origin and path, for a query can hold a secret.
func shownURL(raw string) string {
	const longest = 200
	u, ok := plainURL(raw)
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

// origin is scheme, host and port in their usual form.
func origin(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		return u.Scheme + "://" + host
	}
	return u.Scheme + "://" + host + ":" + port
}

// wellKnown puts a well-known name between origin and path (RFC 8414 §3.1, RFC 9728 §3.1). One trailing slash of the
// path goes.
func wellKnown(u *url.URL, name string) string {
	return u.Scheme + "://" + u.Host + "/.well-known/" + name + trimSlash(u.EscapedPath())
}

func trimSlash(s string) string { return strings.TrimSuffix(s, "/") }

// sameIssuer compares identifiers as strings; a single trailing slash is tolerated.
func sameIssuer(a, b string) bool { return trimSlash(a) == trimSlash(b) }

// covers tells whether a published resource may stand for a server's URL: equal but for one trailing slash, or a parent
// of the path, at a segment's boundary, on the same origin.
func covers(resource, server string) bool {
	r, ok := plainURL(resource)
	s, fine := plainURL(server)
	if !ok || !fine || origin(r) != origin(s) {
		return false
	}
	if r.RawQuery != "" && r.RawQuery != s.RawQuery {
		return false
	}
	parent, path := trimSlash(r.EscapedPath()), trimSlash(s.EscapedPath())
	if parent == path {
		return true
	}
	// "/a/.." stands for its parent, whatever its text begins with.
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
