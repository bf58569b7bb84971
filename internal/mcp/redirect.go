package mcp

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"slices"
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
// origin, or the same host with https instead of http, may receive the credentials, which are among the sent headers.
func redirectTarget(from *url.URL, resp *http.Response, hops int, sent http.Header) (*url.URL, error) {
	to, err := from.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" {
		return from, &redirectError{resp.StatusCode, "redirects to an invalid URL"}
	}
	keeps := resp.StatusCode == http.StatusTemporaryRedirect || resp.StatusCode == http.StatusPermanentRedirect
	if !keeps || hops >= maxRedirects || to.User != nil || !isSameHost(from, to) {
		return from, &redirectError{resp.StatusCode, "redirects to " + printableTarget(from, to, sent)}
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

// printableTarget returns a redirect's origin, with the path if the origin is unchanged. An address that repeats a value of
// the sent headers, as a credential, is not shown.
func printableTarget(from, to *url.URL, sent http.Header) string {
	target := printableOrigin(to)
	if to.User == nil && isSameHost(from, to) && printablePath.MatchString(to.EscapedPath()) {
		target += to.EscapedPath()
	}
	if repeatsHeader(target, sent) {
		return "an address that repeats what was sent to it"
	}
	return target
}

// repeatsHeader reports whether a text has a word of the headers' values, or a password of Basic (RFC 7617). Host names
// have no case.
func repeatsHeader(text string, sent http.Header) bool {
	const minWord = 4 // shorter words are in every address
	text = strings.ToLower(text)
	for _, values := range sent {
		words := strings.Fields(strings.Join(values, " "))
		for _, word := range words {
			if pair, err := base64.StdEncoding.DecodeString(word); err == nil {
				_, password, _ := strings.Cut(string(pair), ":")
				words = append(words, password)
			}
		}
		if slices.ContainsFunc(words, func(word string) bool { return len(word) >= minWord && strings.Contains(text, strings.ToLower(word)) }) {
			return true
		}
	}
	return false
}

// printableOrigin returns scheme, host and port of a remote URL, if they are well formed.
func printableOrigin(u *url.URL) string {
	isUnprintable := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune(".-:[]_", c)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(u.Host) > 260 || strings.IndexFunc(u.Host, isUnprintable) >= 0 {
		return "a non-HTTP address"
	}
	return u.Scheme + "://" + u.Host
}
