package access

import (
	"context"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted is the text between the quotes of a valid JSON string.
type quoted struct {
	raw   []byte
	plain bool // it holds no escapes
}

// appendTo appends the text without its escapes.
func (q quoted) appendTo(to []byte) []byte {
	for at := 0; at < len(q.raw); {
		r, size := q.rune(at)
		to = utf8.AppendRune(to, r)
		at += size
	}
	return to
}

// rune is the character at a place, and how many bytes it takes there. Half of a surrogate pair is U+FFFD, as encoding/json reads it.
func (q quoted) rune(at int) (rune, int) {
	if q.raw[at] != '\\' || q.plain {
		return utf8.DecodeRune(q.raw[at:])
	}
	switch c := q.raw[at+1]; c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
	default:
		return rune(c), 2
	}
	const size = len(`\u0000`)
	first := unit(q.raw[at:])
	if !utf16.IsSurrogate(first) {
		return first, size
	}
	if whole := utf16.DecodeRune(first, unit(q.raw[at+size:])); whole != utf8.RuneError {
		return whole, 2 * size
	}
	return utf8.RuneError, size
}

// unit is the number of the \u escape that b begins with; 0: there is none.
func unit(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}

// runeReader reads a text for a regular expression, and pretends that it ends where that has done enough work or the context ends.
type runeReader struct {
	ctx     context.Context //nolint:containedctx // a reader lasts as long as one match
	text    quoted
	at      int
	each    int // units of work for each character
	left    int // units
	spent   int // units
	next    int // where the context is looked at again
	stopped bool
}

// ReadRune implements [io.RuneReader].
func (r *runeReader) ReadRune() (rune, int, error) {
	if r.at >= len(r.text.raw) {
		return 0, 0, io.EOF
	}
	if r.spent += r.each; r.spent > r.next {
		if r.next += workLook; r.spent > r.left || r.ctx.Err() != nil {
			r.stopped = true
			return 0, 0, io.EOF
		}
	}
	c, size := r.text.rune(r.at)
	r.at += size
	return c, size, nil
}
