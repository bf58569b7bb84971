package httpserver

import (
	"bytes"
	"strings"
)

// headLine is one line of a plain head.
type headLine struct {
	text    string // with its CRLF
	name    string // the field's canonical name; "" for the request line
	isKnown bool   // name is in knownNames
	value   string // the path, for the request line
}

// lineCache has the lines of a connection's previous head. Clients repeat most of them, and a repeated line is
// neither parsed nor copied again.
type lineCache struct{ entries []headLine }

// lineAt returns line i of a head, with which b begins. It returns nil if the line is not plain.
func (l *lineCache) lineAt(i int, b []byte) *headLine {
	if i < len(l.entries) {
		if cached := &l.entries[i]; len(cached.text) <= len(b) && cached.text == string(b[:len(cached.text)]) {
			return cached
		}
	}
	end := bytes.Index(b, crlf)
	if end < 0 {
		return nil
	}
	parsed := headLine{text: string(b[:end+len(crlf)])}
	if ok := i == 0 && parsed.parseRequestLine() || i > 0 && parsed.parseField(); !ok {
		return nil
	}
	if i == len(l.entries) {
		l.entries = append(l.entries, parsed)
	}
	l.entries[i] = parsed
	return &l.entries[i]
}

// truncate drops the lines from n on, so that the cache is never longer than one head.
func (l *lineCache) truncate(n int) {
	clear(l.entries[n:])
	l.entries = l.entries[:n]
}

// findValues returns all values of a field in the first n lines.
func (l *lineCache) findValues(name string, n int) (all []string) {
	for i := range l.entries[:n] {
		if l.entries[i].name == name {
			all = append(all, l.entries[i].value)
		}
	}
	return all
}

// parseRequestLine parses the request line.
func (l *headLine) parseRequestLine() bool {
	path, post := strings.CutPrefix(l.text, "POST ")
	path, ok := strings.CutSuffix(path, " HTTP/1.1\r\n")
	l.value = path
	return post && ok && isPlainPath(path)
}

// parseField parses a field line.
func (l *headLine) parseField() bool {
	name, value, ok := strings.Cut(strings.TrimSuffix(l.text, "\r\n"), ":")
	if !ok {
		return false
	}
	l.name, l.isKnown = canonicalName(name)
	l.value = strings.Trim(value, " \t")
	return l.name != "" && isPlainValue(l.value)
}
