package fastpath

import (
	"bytes"
	"strings"
)

// line is one line of a head that is plain.
type line struct {
	text  string // with its end
	name  string // of a field, as net/http writes it; of the first line: none
	known bool   // the name is one of those that are known by heart
	value string // of the first line: the path
}

// lines are those of a connection's last head. Clients write the same ones again, but for a length or a name: those are neither looked at
// nor copied once more.
type lines struct{ of []line }

// at is line i of a head, with which b begins; nil: it is not plain.
func (l *lines) at(i int, b []byte) *line {
	if i < len(l.of) {
		if was := &l.of[i]; len(was.text) <= len(b) && was.text == string(b[:len(was.text)]) {
			return was
		}
	}
	end := bytes.Index(b, crlf)
	if end < 0 {
		return nil
	}
	made := line{text: string(b[:end+len(crlf)])}
	if ok := i == 0 && made.first() || i > 0 && made.field(); !ok {
		return nil
	}
	if i == len(l.of) {
		l.of = append(l.of, made)
	}
	l.of[i] = made
	return &l.of[i]
}

// end forgets what stands behind the first n lines: what is kept is no longer than a head.
func (l *lines) end(n int) {
	clear(l.of[n:])
	l.of = l.of[:n]
}

// values are all of a field in the first n lines.
func (l *lines) values(name string, n int) (all []string) {
	for i := range l.of[:n] {
		if l.of[i].name == name {
			all = append(all, l.of[i].value)
		}
	}
	return all
}

// first reads the first line.
func (l *line) first() bool {
	path, post := strings.CutPrefix(l.text, "POST ")
	path, ok := strings.CutSuffix(path, " HTTP/1.1\r\n")
	l.value = path
	return post && ok && plainPath(path)
}

// field reads another line.
func (l *line) field() bool {
	name, value, ok := strings.Cut(strings.TrimSuffix(l.text, "\r\n"), ":")
	if !ok {
		return false
	}
	l.name, l.known = canonical(name)
	l.value = strings.Trim(value, " \t")
	return l.name != "" && plainValue(l.value)
}
