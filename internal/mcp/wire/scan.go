package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// Errors of invalid JSON.
var (
	ErrSyntax = errors.New("not JSON")
	ErrDepth  = errors.New("JSON nested too deeply")
	ErrUTF8   = errors.New("JSON with invalid UTF-8")
)

// maxDepth is far above what schemas need, and low enough for recursive decoders.
const maxDepth = 500

// scanner scans JSON (RFC 8259) once. Each method expects pos at the first byte of its token and leaves it
// after the last.
type scanner struct {
	data  []byte
	pos   int
	depth int

	escaped  bool   // the last string has an escape
	overflow string // the first number that overflows a float64; empty: none
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// skipValue skips any value.
func (s *scanner) skipValue() error {
	switch c := s.peek(); {
	case c == '{':
		return s.skipObject()
	case c == '[':
		return s.skipArray()
	case c == '"':
		_, err := s.readString()
		return err
	case c == '-' || isDigit(c):
		return s.skipNumber()
	case c == 't':
		return s.skipLiteral("true")
	case c == 'f':
		return s.skipLiteral("false")
	case c == 'n':
		return s.skipLiteral("null")
	}
	return ErrSyntax
}

// skipObject skips an object. It is faster than readObject, and most of a tool list is schemas.
func (s *scanner) skipObject() error {
	if err := s.openBracket(); err != nil {
		return err
	}
	if s.peek() == '}' {
		return s.closeBracket()
	}
	for {
		if s.peek() != '"' {
			return ErrSyntax
		}
		if _, err := s.readString(); err != nil {
			return err
		}
		if s.peek() != ':' {
			return ErrSyntax
		}
		s.pos++
		if err := s.skipValue(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			return s.closeBracket()
		default:
			return ErrSyntax
		}
	}
}

// skipArray skips an array.
func (s *scanner) skipArray() error {
	if err := s.openBracket(); err != nil {
		return err
	}
	if s.peek() == ']' {
		return s.closeBracket()
	}
	for {
		if err := s.skipValue(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			return s.closeBracket()
		default:
			return ErrSyntax
		}
	}
}

// readObject reads an object. member is called for each unquoted key and must read the value.
func (s *scanner) readObject(member func(key []byte) error) error {
	if err := s.openBracket(); err != nil {
		return err
	}
	if s.peek() == '}' {
		return s.closeBracket()
	}
	for {
		if s.peek() != '"' {
			return ErrSyntax
		}
		key, err := s.readString()
		if err != nil {
			return err
		}
		if s.escaped {
			key = unquoteKey(key)
		} else {
			key = key[1 : len(key)-1]
		}
		if s.peek() != ':' {
			return ErrSyntax
		}
		s.pos++
		if err := member(key); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			return s.closeBracket()
		default:
			return ErrSyntax
		}
	}
}

// readArray reads an array. element is called for each element and must read it.
func (s *scanner) readArray(element func() error) error {
	if err := s.openBracket(); err != nil {
		return err
	}
	if s.peek() == ']' {
		return s.closeBracket()
	}
	for {
		if err := element(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			return s.closeBracket()
		default:
			return ErrSyntax
		}
	}
}

func (s *scanner) openBracket() error {
	s.pos++
	if s.depth++; s.depth > maxDepth {
		return ErrDepth
	}
	return nil
}

func (s *scanner) closeBracket() error {
	s.pos++
	s.depth--
	return nil
}

// isPlain marks ASCII bytes that need no escape, of which most replies consist.
var isPlain = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// readString reads a string and returns it quoted.
func (s *scanner) readString() ([]byte, error) {
	start := s.pos
	ascii := true
	s.escaped = false
	for i := start + 1; ; i++ {
		i += countPlainBytes(s.data[i:])
		if i == len(s.data) {
			return nil, ErrSyntax
		}
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			raw := s.data[start:s.pos]
			if !ascii && !utf8.Valid(raw) {
				return nil, ErrUTF8
			}
			return raw, nil
		case c == '\\':
			n := escapeLength(s.data[i:])
			if n == 0 {
				return nil, ErrSyntax
			}
			i += n - 1
			s.escaped = true
		case c < ' ':
			return nil, ErrSyntax
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
}

// escapeLength is the length of the escape at the start of b; 0: invalid.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if !isDigit(c) && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return 0
			}
		}
		return 6
	}
	return 0
}

// maxShortNumber is a length in characters up to which a number without an exponent fits a float64.
const maxShortNumber = 300

// skipNumber skips a number and records the first that overflows a float64.
func (s *scanner) skipNumber() error {
	start := s.pos
	exponent, err := s.scanNumber()
	if err == nil && (exponent || s.pos-start > maxShortNumber) && s.overflow == "" && overflowsFloat(s.data[start:s.pos]) {
		s.overflow = shortenValue(s.data[start:s.pos])
	}
	return err
}

// scanNumber skips a number and reports whether it has an exponent.
func (s *scanner) scanNumber() (exponent bool, err error) {
	if s.nextIs('-') {
		s.pos++
	}
	if s.nextIs('0') {
		s.pos++
	} else if !s.skipDigits() {
		return false, ErrSyntax
	}
	if s.nextIs('.') {
		s.pos++
		if !s.skipDigits() {
			return false, ErrSyntax
		}
	}
	if s.nextIs('e') || s.nextIs('E') {
		s.pos++
		if s.nextIs('+') || s.nextIs('-') {
			s.pos++
		}
		if !s.skipDigits() {
			return false, ErrSyntax
		}
		return true, nil
	}
	return false, nil
}

func (s *scanner) nextIs(c byte) bool { return s.pos < len(s.data) && s.data[s.pos] == c }

func (s *scanner) skipDigits() bool {
	start := s.pos
	for s.pos < len(s.data) && isDigit(s.data[s.pos]) {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) skipLiteral(w string) error {
	if len(s.data)-s.pos < len(w) || string(s.data[s.pos:s.pos+len(w)]) != w {
		return ErrSyntax
	}
	s.pos += len(w)
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// unquoteKey unquotes a key as encoding/json does, with one allocation: a reply can have a million.
func unquoteKey(raw []byte) []byte {
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	key := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		n := escapeLength(raw[i:])
		if raw[i] != '\\' || n == 0 {
			key = append(key, raw[i])
			i++
			continue
		}
		unit := rune(readCodeUnit(raw[i:]))
		switch c := raw[i+1]; {
		case c != 'u':
			key = append(key, unescapeByte(c))
		case !utf16.IsSurrogate(unit):
			key = utf8.AppendRune(key, unit)
		default:
			r := utf8.RuneError
			if i+n < len(raw) && raw[i+n] == '\\' {
				r = utf16.DecodeRune(unit, rune(readCodeUnit(raw[i+n:])))
			}
			if r != utf8.RuneError {
				n *= 2
			}
			key = utf8.AppendRune(key, r)
		}
		i += n
	}
	return key
}

// unescapeByte returns the character of an escape of two bytes.
func unescapeByte(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// unquoteString decodes a string that the scanner accepted.
func unquoteString(raw []byte) (string, bool) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", false
	}
	return text, true
}
