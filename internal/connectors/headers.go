package connectors

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Bounds of a connector's extra headers.
const (
	MaxHeaders     = 32
	MaxHeaderBytes = 8 << 10 // names and values together
)

// credentialHeaders carry secrets, and a connector's headers are shown to everybody who may read it.
var credentialHeaders = []string{"authorization", "cookie", "proxy-authorization"}

// ownHeaders and ownHeaderPrefixes are set by the protocol, or by the connection.
var (
	ownHeaders = []string{
		"connection", "expect", "host", "keep-alive", "last-event-id", "set-cookie", "te", "trailer", "transfer-encoding",
		"upgrade", "user-agent", "via",
	}
	ownHeaderPrefixes = []string{"accept", "content-", "mcp-", "proxy-", "sec-"}
)

func (c *check) headers(headers map[string]string, auth Auth) {
	if len(headers) > MaxHeaders {
		c.refuse("headers", "There are at most %d headers.", MaxHeaders)
		return
	}
	size, seen := 0, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		size += len(name) + len(headers[name])
		lower := strings.ToLower(name)
		if seen[lower] {
			c.refuse("headers."+name, "This header stands here twice.")
			continue
		}
		seen[lower] = true
		c.header(name, headers[name], auth)
	}
	if size > MaxHeaderBytes {
		c.refuse("headers", "The headers have at most %d bytes together.", MaxHeaderBytes)
	}
}

func (c *check) header(name, value string, auth Auth) {
	at, lower := "headers."+name, strings.ToLower(name)
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		c.refuse(at, "This is not a header name.")
	case slices.Contains(credentialHeaders, lower), auth.Type == AuthAPIKey && strings.EqualFold(name, auth.Header):
		c.refuse(at, "Set this header as authentication, where it is kept secret.")
	case ownHeader(lower):
		c.refuse(at, "Patchbay sets this header itself.")
	case !httpguts.ValidHeaderFieldValue(value) || !plainText(value, "\t"):
		c.refuse(at, "A header's value is one line of text.")
	}
}

// authHeader checks the header of an API key. Authorization is fine here: some servers want the bare key in it.
func (c *check) authHeader(name string) {
	lower := strings.ToLower(name)
	switch {
	case !httpguts.ValidHeaderFieldName(name) || len(name) > MaxName:
		c.refuse("auth.header", "This is not a header name.")
	case ownHeader(lower), lower == "cookie":
		c.refuse("auth.header", "A key cannot be sent in this header.")
	}
}

// OwnHeader tells whether Patchbay or the connection sets a header, so that a connector cannot.
func OwnHeader(name string) bool { return ownHeader(strings.ToLower(name)) }

func ownHeader(lower string) bool {
	return slices.Contains(ownHeaders, lower) ||
		lower != "proxy-authorization" && slices.ContainsFunc(ownHeaderPrefixes, func(p string) bool { return strings.HasPrefix(lower, p) })
}
