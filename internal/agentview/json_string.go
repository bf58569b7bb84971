package agentview

import (
	"context"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonString is the text between the quotes of a valid JSON string.
type jsonString struct {
	raw         []byte
	isUnescaped bool // it has no escapes
}

// appendTo appends the unescaped text.
func (s jsonString) appendTo(to []byte) []byte {
	for pos := 0; pos < len(s.raw); {
		r, size := s.decodeRune(pos)
		to = utf8.AppendRune(to, r)
		pos += size
	}
	return to
}

// decodeRune returns the character at pos and its length in bytes. An unpaired surrogate is U+FFFD, as in
// encoding/json.
func (s jsonString) decodeRune(pos int) (rune, int) {
	if s.raw[pos] != '\\' || s.isUnescaped {
		return utf8.DecodeRune(s.raw[pos:])
	}
	switch c := s.raw[pos+1]; c {
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
	first := parseUnicodeEscape(s.raw[pos:])
	if !utf16.IsSurrogate(first) {
		return first, size
	}
	if whole := utf16.DecodeRune(first, parseUnicodeEscape(s.raw[pos+size:])); whole != utf8.RuneError {
		return whole, 2 * size
	}
	return utf8.RuneError, size
}

// parseUnicodeEscape returns the code unit of the \u escape at the start of b; 0 if there is none.
func parseUnicodeEscape(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}

// runeReader feeds a string to a regular expression. It returns EOF when the budget or the context ends.
type runeReader struct {
	ctx         context.Context //nolint:containedctx // a reader lasts as long as one match
	text        jsonString
	pos         int
	workPerRune int
	budget      int // of work
	work        int // units spent
	nextCheck   int // work at which the context is checked again
	stopped     bool
}

// ReadRune implements [io.RuneReader].
func (r *runeReader) ReadRune() (rune, int, error) {
	if r.pos >= len(r.text.raw) {
		return 0, 0, io.EOF
	}
	if r.work += r.workPerRune; r.work > r.nextCheck {
		if r.nextCheck += contextCheckWork; r.work > r.budget || r.ctx.Err() != nil {
			r.stopped = true
			return 0, 0, io.EOF
		}
	}
	c, size := r.text.decodeRune(r.pos)
	r.pos += size
	return c, size, nil
}
