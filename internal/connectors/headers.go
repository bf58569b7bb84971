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

// credentialHeaders carry secrets, but every reader of a connector sees its headers.
var credentialHeaders = []string{"authorization", "cookie", "proxy-authorization"}

// reservedHeaders and reservedHeaderPrefixes are set by the protocol or the connection.
var (
	reservedHeaders = []string{
		"connection", "expect", "host", "keep-alive", "last-event-id", "set-cookie", "te", "trailer", "transfer-encoding",
		"upgrade", "user-agent", "via",
	}
	reservedHeaderPrefixes = []string{"accept", "content-", "mcp-", "proxy-", "sec-"}
)

func (c *validation) headers(headers map[string]string, auth Auth) {
	if len(headers) > MaxHeaders {
		c.addField("headers", "At most %d headers.", MaxHeaders)
		return
	}
	size, seen := 0, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		size += len(name) + len(headers[name])
		lower := strings.ToLower(name)
		if seen[lower] {
			c.addField("headers."+name, "Duplicate header.")
			continue
		}
		seen[lower] = true
		c.checkHeader(name, headers[name], auth)
	}
	if size > MaxHeaderBytes {
		c.addField("headers", "At most %d bytes in total.", MaxHeaderBytes)
	}
}

func (c *validation) checkHeader(name, value string, auth Auth) {
	at, lower := "headers."+name, strings.ToLower(name)
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		c.addField(at, "Invalid header name.")
	case slices.Contains(credentialHeaders, lower), auth.Type == AuthAPIKey && auth.In == KeyInHeader && strings.EqualFold(name, auth.Header):
		c.addField(at, "Set it as authentication, where it stays secret.")
	case isReservedHeader(lower):
		c.addField(at, "Patchbay sets this header itself.")
	case !httpguts.ValidHeaderFieldValue(value) || !isPlainText(value, "\t"):
		c.addField(at, "Must be one line of text.")
	}
}

// checkKeyPlace checks where an API key is sent, and under which name.
func (c *validation) checkKeyPlace(a Auth, transport Transport) {
	switch {
	case a.In == KeyInHeader:
		c.checkAuthHeader(a.Header)
	case a.In != KeyInQuery && a.In != KeyInCookie:
		c.addField("auth.in", "Must be header, query or cookie.")
	case transport != TransportAPI:
		c.addField("auth.in", "MCP servers take API keys in a header only.")
	case a.Header == "" || len(a.Header) > MaxName || a.In == KeyInCookie && !httpguts.ValidHeaderFieldName(a.Header), !isVisibleASCII(a.Header) || strings.ContainsAny(a.Header, " &=#;"):
		c.addField("auth.header", "Enter the name of the parameter or cookie.")
	}
}

// checkAuthHeader checks the header of an API key. Authorization is allowed: some servers want the bare key in
// it.
func (c *validation) checkAuthHeader(name string) {
	lower := strings.ToLower(name)
	switch {
	case !httpguts.ValidHeaderFieldName(name) || len(name) > MaxName:
		c.addField("auth.header", "Invalid header name.")
	case isReservedHeader(lower), lower == "cookie":
		c.addField("auth.header", "This header can't carry a key.")
	}
}

// OwnHeader reports whether a header is set by Patchbay or the connection.
func OwnHeader(name string) bool { return isReservedHeader(strings.ToLower(name)) }

func isReservedHeader(lower string) bool {
	return slices.Contains(reservedHeaders, lower) ||
		lower != "proxy-authorization" && slices.ContainsFunc(reservedHeaderPrefixes, func(p string) bool { return strings.HasPrefix(lower, p) })
}
