package jsonschema

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote decodes a valid JSON string as encoding/json does. A string without escapes is a part of raw.
func Unquote(raw string) string {
	raw = raw[1 : len(raw)-1]
	if strings.IndexByte(raw, '\\') < 0 {
		return raw
	}
	var text strings.Builder
	text.Grow(len(raw))
	for len(raw) > 0 {
		plain := strings.IndexByte(raw, '\\')
		if plain < 0 {
			plain = len(raw)
		}
		text.WriteString(raw[:plain])
		if raw = raw[plain:]; len(raw) > 0 {
			c, size := decodeEscape(raw)
			text.WriteRune(c)
			raw = raw[size:]
		}
	}
	return text.String()
}

const unicodeEscapeBytes = len(`\u0000`)

// decodeEscape returns the character of the escape at the start of raw, and its length in bytes. An unpaired
// surrogate is U+FFFD.
func decodeEscape(raw string) (rune, int) {
	if raw[1] != 'u' {
		if at := strings.IndexByte("bfnrt", raw[1]); at >= 0 {
			return rune("\b\f\n\r\t"[at]), 2
		}
		return rune(raw[1]), 2
	}
	first := decodeUnit(raw)
	if !utf16.IsSurrogate(first) {
		return first, unicodeEscapeBytes
	}
	if c := utf16.DecodeRune(first, decodeUnit(raw[unicodeEscapeBytes:])); c != utf8.RuneError {
		return c, 2 * unicodeEscapeBytes
	}
	return utf8.RuneError, unicodeEscapeBytes
}

// decodeUnit returns the UTF-16 code unit of the escape at the start of raw; 0: none.
func decodeUnit(raw string) rune {
	if len(raw) < unicodeEscapeBytes || raw[0] != '\\' || raw[1] != 'u' {
		return 0
	}
	unit, _ := strconv.ParseUint(raw[2:unicodeEscapeBytes], 16, 16) // raw is a valid string
	return rune(unit)
}

// shortEscapes are the characters with an escape of their own, besides other control characters.
var shortEscapes = map[rune]string{
	'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\u2028': `\u2028`, '\u2029': `\u2029`,
}

// isPlain are the bytes that a JSON string has as they are.
var isPlain = func() (plain [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// AppendQuoted appends a string as JSON, as encoding/json does without escapes for HTML.
func AppendQuoted(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	copied := 0
	for at := 0; at < len(s); {
		if isPlain[s[at]] {
			at++
			continue
		}
		c, size := utf8.DecodeRuneInString(s[at:])
		short, known := shortEscapes[c]
		if c == utf8.RuneError && size == 1 {
			short, known = `\ufffd`, true // an invalid byte
		}
		if !known && c >= ' ' {
			at += size
			continue
		}
		dst = append(dst, s[copied:at]...)
		if known {
			dst = append(dst, short...)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		at += size
		copied = at
	}
	return append(append(dst, s[copied:]...), '"')
}
