package mcp

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

const maxRedirects = 3

// redirectError says that a server sends us where credentials must not follow. Its text names the target's origin.
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

// redirected is where to send the request again. Only 307 and 308 keep method and body, and only the same origin, or
// the same host over https in place of http, may see the credentials.
func redirected(from *url.URL, resp *http.Response, hops int) (*url.URL, error) {
	to, err := from.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" {
		return from, &redirectError{resp.StatusCode, "redirects to no readable address"}
	}
	keeps := resp.StatusCode == http.StatusTemporaryRedirect || resp.StatusCode == http.StatusPermanentRedirect
	if !keeps || hops >= maxRedirects || to.User != nil || !sameHouse(from, to) {
		return from, &redirectError{resp.StatusCode, "redirects to " + shownTarget(from, to)}
	}
	to.Fragment, to.RawFragment = "", ""
	return to, nil
}

func sameHouse(from, to *url.URL) bool {
	if !strings.EqualFold(from.Hostname(), to.Hostname()) {
		return false
	}
	upgrade := from.Scheme == "http" && to.Scheme == "https" && port(to) == "443" && port(from) == "80"
	return upgrade || from.Scheme == to.Scheme && port(from) == port(to)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

var plainPath = regexp.MustCompile(`^[A-Za-z0-9/._~-]{1,100}$`)

// shownTarget is where a redirect leads, as far as it may be shown: the path too, where the origin alone would say nothing new.
func shownTarget(from, to *url.URL) string {
	if to.User == nil && sameHouse(from, to) && plainPath.MatchString(to.EscapedPath()) {
		return shownOrigin(to) + to.EscapedPath()
	}
	return shownOrigin(to)
}

// shownOrigin is scheme, host and port of an address that a server sent, where they look like ones.
func shownOrigin(u *url.URL) string {
	odd := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune(".-:[]_", c)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(u.Host) > 260 || strings.IndexFunc(u.Host, odd) >= 0 {
		return "an address that is not a web address"
	}
	return u.Scheme + "://" + u.Host
}
