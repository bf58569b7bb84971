package h1

import (
	"bytes"
	"net/http"
	"net/textproto"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// mostLines is how many lines of a head are kept for the next one.
const mostLines = 16

// line is one line of a head that is plain.
type line struct {
	text        string // with its end
	name, value string // of a field; of the first line, the value is the line
}

// lines are the first ones of a connection's last head. Servers write the same ones again, but for a date or a length: those are neither
// looked at nor copied once more.
type lines struct{ of []line }

// at is line i of a head, with which b begins; false: it is not plain.
func (l *lines) at(i int, b []byte) (line, bool) {
	if i < len(l.of) {
		if was := l.of[i]; len(was.text) <= len(b) && was.text == string(b[:len(was.text)]) {
			return was, true
		}
	}
	end := bytes.Index(b, crlf)
	if end < 0 {
		return line{}, false
	}
	made := line{text: string(b[:end+len(crlf)])}
	made.value = made.text[:end]
	if i > 0 && !made.field() {
		return line{}, false
	}
	switch {
	case i < len(l.of):
		l.of[i] = made
	case i < mostLines:
		l.of = append(l.of, made)
	}
	return made, true
}

// end forgets what stands behind the first n lines: what is kept is no longer than a head.
func (l *lines) end(n int) {
	n = min(n, len(l.of))
	clear(l.of[n:])
	l.of = l.of[:n]
}

// field reads a line that is not the first.
func (l *line) field() bool {
	name, value, ok := strings.Cut(l.value, ":")
	if !ok || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
		return false
	}
	l.name, l.value = http.CanonicalHeaderKey(name), textproto.TrimString(value)
	return true
}
