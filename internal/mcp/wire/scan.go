package wire

import (
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// What can be wrong with JSON text.
var (
	ErrSyntax = errors.New("not JSON")
	ErrDepth  = errors.New("JSON nested too deeply")
	ErrUTF8   = errors.New("JSON with invalid UTF-8")
)

// maxDepth is far more than a schema needs and far less than what overflows a reader further on.
const maxDepth = 500

// scanner walks JSON text (RFC 8259) once. Its methods expect pos at the first byte of what they read, and leave it
// after the last.
type scanner struct {
	data  []byte
	pos   int
	depth int

	escaped  bool   // the last string that was read holds an escape
	overflow string // the first number that was read and is too large for 64-bit floating point; empty: none
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

// value reads any value.
func (s *scanner) value() error {
	switch c := s.peek(); {
	case c == '{':
		return s.passObject()
	case c == '[':
		return s.passArray()
	case c == '"':
		_, err := s.str()
		return err
	case c == '-' || isDigit(c):
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return ErrSyntax
}

// passObject is object for one that nobody wants to know more of: most of a tool list are schemas.
func (s *scanner) passObject() error {
	if err := s.enter(); err != nil {
		return err
	}
	if s.peek() == '}' {
		return s.leave()
	}
	for {
		if s.peek() != '"' {
			return ErrSyntax
		}
		if _, err := s.str(); err != nil {
			return err
		}
		if s.peek() != ':' {
			return ErrSyntax
		}
		s.pos++
		if err := s.value(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			return s.leave()
		default:
			return ErrSyntax
		}
	}
}

// passArray is array for one that nobody wants to know more of.
func (s *scanner) passArray() error {
	if err := s.enter(); err != nil {
		return err
	}
	if s.peek() == ']' {
		return s.leave()
	}
	for {
		if err := s.value(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			return s.leave()
		default:
			return ErrSyntax
		}
	}
}

// object reads an object. member is called for each key, unquoted, with the scanner before the value, which it must read.
func (s *scanner) object(member func(key []byte) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	if s.peek() == '}' {
		return s.leave()
	}
	for {
		if s.peek() != '"' {
			return ErrSyntax
		}
		key, err := s.str()
		if err != nil {
			return err
		}
		if s.escaped {
			key = keyOf(key)
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
			return s.leave()
		default:
			return ErrSyntax
		}
	}
}

// array reads an array. element is called before each element, which it must read.
func (s *scanner) array(element func() error) error {
	if err := s.enter(); err != nil {
		return err
	}
	if s.peek() == ']' {
		return s.leave()
	}
	for {
		if err := element(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			return s.leave()
		default:
			return ErrSyntax
		}
	}
}

func (s *scanner) enter() error {
	s.pos++
	if s.depth++; s.depth > maxDepth {
		return ErrDepth
	}
	return nil
}

func (s *scanner) leave() error {
	s.pos++
	s.depth--
	return nil
}

// plain are the bytes that stand for themselves in a string. Most of a reply is made of them.
var plain = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// str reads a string and returns it with its quotes.
func (s *scanner) str() ([]byte, error) {
	start := s.pos
	ascii := true
	s.escaped = false
	for i := start + 1; ; i++ {
		i += plainBytes(s.data[i:])
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

// escapeLength is the number of bytes of the escape that b begins with, 0 where it is none.
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

// maxShortNumber is how many characters a number without an exponent may have and surely fit 64-bit floating point.
const maxShortNumber = 300

// number reads a number of any size. One that is too large for 64-bit floating point is noted.
func (s *scanner) number() error {
	start := s.pos
	exponent, err := s.passNumber()
	if err == nil && (exponent || s.pos-start > maxShortNumber) && s.overflow == "" && overflows(s.data[start:s.pos]) {
		s.overflow = shown(s.data[start:s.pos])
	}
	return err
}

// passNumber reads a number, and reports whether it has an exponent.
func (s *scanner) passNumber() (exponent bool, err error) {
	if s.at('-') {
		s.pos++
	}
	if s.at('0') {
		s.pos++
	} else if !s.digits() {
		return false, ErrSyntax
	}
	if s.at('.') {
		s.pos++
		if !s.digits() {
			return false, ErrSyntax
		}
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		if !s.digits() {
			return false, ErrSyntax
		}
		return true, nil
	}
	return false, nil
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.data) && s.data[s.pos] == c }

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && isDigit(s.data[s.pos]) {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) word(w string) error {
	if len(s.data)-s.pos < len(w) || string(s.data[s.pos:s.pos+len(w)]) != w {
		return ErrSyntax
	}
	s.pos += len(w)
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// keyOf unquotes a key. Keys with escapes are rare and equal what they spell.
func keyOf(raw []byte) []byte {
	for _, c := range raw {
		if c == '\\' {
			key, _ := unquote(raw)
			return []byte(key)
		}
	}
	return raw[1 : len(raw)-1]
}

// unquote is the text of a string that the scanner read.
func unquote(raw []byte) (string, bool) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", false
	}
	return text, true
}
