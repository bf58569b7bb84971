package httpclient

import (
	"bytes"
	"net/http"
	"net/textproto"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// maxCachedLines is how many lines of a head are cached.
const maxCachedLines = 16

// headLine is one line of a plain head.
type headLine struct {
	text        string // with its CRLF
	name, value string // of a field; for the status line, value is the line
}

// lineCache has the first lines of a connection's previous head. Servers repeat most of them, and a repeated
// line is neither parsed nor copied again.
type lineCache struct{ entries []headLine }

// lineAt returns line i of a head, with which b begins. It returns false if the line is not plain.
func (l *lineCache) lineAt(i int, b []byte) (headLine, bool) {
	if i < len(l.entries) {
		if cached := l.entries[i]; len(cached.text) <= len(b) && cached.text == string(b[:len(cached.text)]) {
			return cached, true
		}
	}
	end := bytes.Index(b, crlf)
	if end < 0 {
		return headLine{}, false
	}
	parsed := headLine{text: string(b[:end+len(crlf)])}
	parsed.value = parsed.text[:end]
	if i > 0 && !parsed.parseField() {
		return headLine{}, false
	}
	switch {
	case i < len(l.entries):
		l.entries[i] = parsed
	case i < maxCachedLines:
		l.entries = append(l.entries, parsed)
	}
	return parsed, true
}

// truncate drops the lines from n on, so that the cache is never longer than one head.
func (l *lineCache) truncate(n int) {
	n = min(n, len(l.entries))
	clear(l.entries[n:])
	l.entries = l.entries[:n]
}

// parseField parses a field line.
func (l *headLine) parseField() bool {
	name, value, ok := strings.Cut(l.value, ":")
	if !ok || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
		return false
	}
	l.name, l.value = http.CanonicalHeaderKey(name), textproto.TrimString(value)
	return true
}
