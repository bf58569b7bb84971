package httpserver

import "net/http"

// Character classes of the parts of a plain head.
const (
	inPath = 1 << iota
	inHost
	inName
	inValue
)

// charClasses has the classes of each byte.
var charClasses = func() (c [256]byte) {
	each := func(s string, class byte) {
		for i := range len(s) {
			c[s[i]] |= class
		}
	}
	for b := range 256 {
		switch {
		case '0' <= b && b <= '9', 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z':
			c[b] |= inPath | inHost | inName
		}
		if b == '\t' || b >= ' ' && b != 0x7f {
			c[b] |= inValue
		}
	}
	each("/-._", inPath)
	each("-.:[]", inHost)
	each("!#$%&'*+-.^_`|~", inName) // RFC 9110 §5.6.2
	return c
}()

func allInClass(s string, class byte) bool {
	for i := range len(s) {
		if charClasses[s[i]]&class == 0 {
			return false
		}
	}
	return true
}

func isPlainPath(s string) bool  { return s != "" && s[0] == '/' && allInClass(s, inPath) }
func isPlainHost(s string) bool  { return s != "" && allInClass(s, inHost) }
func isPlainValue(s string) bool { return allInClass(s, inValue) }

// canonicalName returns name as net/http writes it, and whether it is in knownNames. The result is "" for an
// invalid name.
func canonicalName(name string) (string, bool) {
	if known, ok := knownNames[name]; ok {
		return known, true
	}
	if !allInClass(name, inName) {
		return "", false
	}
	made := http.CanonicalHeaderKey(name)
	_, ok := knownNames[made] // name may be a known one in mixed case
	return made, ok
}

// knownNames maps the spellings of common fields, and of those with a meaning for this package, to their
// canonical form.
var knownNames = func() map[string]string {
	names := map[string]string{}
	for _, name := range []string{
		"Accept", "Accept-Encoding", "Accept-Language", "Authorization", "Cache-Control", "Connection", "Content-Length", "Content-Type", "Cookie",
		"Expect", "Forwarded", "Host", "Last-Event-ID", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id", "MCP-Protocol-Version",
		"Origin", "Pragma", "Sec-Fetch-Mode", "Te", "Traceparent", "Tracestate", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
		"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "X-Request-Id",
	} {
		made := http.CanonicalHeaderKey(name)
		names[name], names[made], names[toLowerASCII(made)] = made, made, made
	}
	return names
}()

func toLowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + ('a' - 'A')
		}
	}
	return string(b)
}
