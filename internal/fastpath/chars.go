package fastpath

import "net/http"

// The characters that each part of a plain head may have.
const (
	inPath = 1 << iota
	inHost
	inName
	inValue
)

// classes says for each byte where it may stand.
var classes = func() (c [256]byte) {
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

func all(s string, class byte) bool {
	for i := range len(s) {
		if classes[s[i]]&class == 0 {
			return false
		}
	}
	return true
}

func plainPath(s string) bool  { return s != "" && s[0] == '/' && all(s, inPath) }
func plainHost(s string) bool  { return s != "" && all(s, inHost) }
func plainValue(s string) bool { return all(s, inValue) }

// canonical is a field's name as net/http writes it, and whether it is one of those that are known by heart; "": it is none.
func canonical(name string) (string, bool) {
	if known, ok := knownNames[name]; ok {
		return known, true
	}
	if !all(name, inName) {
		return "", false
	}
	made := http.CanonicalHeaderKey(name)
	_, ok := knownNames[made] // in another mixture of letters
	return made, ok
}

// knownNames are the usual fields, as clients write them, and those that have a meaning here.
var knownNames = func() map[string]string {
	names := map[string]string{}
	for _, name := range []string{
		"Accept", "Accept-Encoding", "Accept-Language", "Authorization", "Cache-Control", "Connection", "Content-Length", "Content-Type", "Cookie",
		"Expect", "Forwarded", "Host", "Last-Event-ID", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id", "MCP-Protocol-Version",
		"Origin", "Pragma", "Sec-Fetch-Mode", "Te", "Traceparent", "Tracestate", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
		"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "X-Request-Id",
	} {
		made := http.CanonicalHeaderKey(name)
		names[name], names[made], names[lower(made)] = made, made, made
	}
	return names
}()

func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + ('a' - 'A')
		}
	}
	return string(b)
}
