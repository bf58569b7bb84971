package mcp

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

const maxRedirects = 3

// redirectError is a redirect to where credentials must not be sent. Its text names the target's origin.
type redirectError struct {
	status int
	detail string
}

func (e *redirectError) Error() string { return e.detail }

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirectTarget returns where to repeat the request. Only 307 and 308 keep method and body. Only the same
// origin, or the same host with https instead of http, may receive the credentials.
func redirectTarget(from *url.URL, resp *http.Response, hops int) (*url.URL, error) {
	to, err := from.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" {
		return from, &redirectError{resp.StatusCode, "redirects to no readable address"}
	}
	keeps := resp.StatusCode == http.StatusTemporaryRedirect || resp.StatusCode == http.StatusPermanentRedirect
	if !keeps || hops >= maxRedirects || to.User != nil || !isSameHost(from, to) {
		return from, &redirectError{resp.StatusCode, "redirects to " + printableTarget(from, to)}
	}
	to.Fragment, to.RawFragment = "", ""
	return to, nil
}

func isSameHost(from, to *url.URL) bool {
	if !strings.EqualFold(from.Hostname(), to.Hostname()) {
		return false
	}
	upgrade := from.Scheme == "http" && to.Scheme == "https" && effectivePort(to) == "443" && effectivePort(from) == "80"
	return upgrade || from.Scheme == to.Scheme && effectivePort(from) == effectivePort(to)
}

func effectivePort(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

var printablePath = regexp.MustCompile(`^[A-Za-z0-9/._~-]{1,100}$`)

// printableTarget returns a redirect's origin, with the path if the origin is unchanged.
func printableTarget(from, to *url.URL) string {
	if to.User == nil && isSameHost(from, to) && printablePath.MatchString(to.EscapedPath()) {
		return printableOrigin(to) + to.EscapedPath()
	}
	return printableOrigin(to)
}

// printableOrigin returns scheme, host and port of a remote URL, if they are well formed.
func printableOrigin(u *url.URL) string {
	isUnprintable := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune(".-:[]_", c)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(u.Host) > 260 || strings.IndexFunc(u.Host, isUnprintable) >= 0 {
		return "an address that is not a web address"
	}
	return u.Scheme + "://" + u.Host
}
