package jsonschema

import (
	"encoding/binary"
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

// shortEscapes are the ASCII characters with an escape of their own, besides other control characters.
var shortEscapes = [utf8.RuneSelf]string{
	'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`,
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
	dst = append(dst, '"')
	for s != "" {
		n := 0
		for n < len(s) && isPlain[s[n]] {
			n++
		}
		dst = append(dst, s[:n]...)
		if s = s[n:]; s != "" {
			c, size := utf8.DecodeRuneInString(s)
			dst, s = appendCharacter(dst, c, size), s[size:]
		}
	}
	return append(dst, '"')
}

// AppendQuotedBytes is [AppendQuoted] for bytes. Long texts take a third of the time.
func AppendQuotedBytes(dst, s []byte) []byte {
	dst = append(dst, '"')
	for len(s) > 0 {
		n := 0
		for len(s)-n >= 8 && !hasSpecial(binary.LittleEndian.Uint64(s[n:])) {
			n += 8
		}
		for n < len(s) && isPlain[s[n]] {
			n++
		}
		dst = append(dst, s[:n]...)
		if s = s[n:]; len(s) > 0 {
			c, size := utf8.DecodeRune(s)
			dst, s = appendCharacter(dst, c, size), s[size:]
		}
	}
	return append(dst, '"')
}

// hasSpecial reports whether one of eight bytes is a quote, a backslash, a control character or not ASCII.
func hasSpecial(w uint64) bool {
	const low, high = 0x0101010101010101, 0x8080808080808080
	return ((w-low*' ')|((w^low*'"')-low)|((w^low*'\\')-low)|w)&high != 0
}

// appendCharacter appends a character of size bytes that is not plain.
func appendCharacter(dst []byte, c rune, size int) []byte {
	const hex = "0123456789abcdef"
	switch {
	case c == utf8.RuneError && size == 1: // an invalid byte
		return append(dst, `\ufffd`...)
	case c == '\u2028':
		return append(dst, `\u2028`...)
	case c == '\u2029':
		return append(dst, `\u2029`...)
	case c >= utf8.RuneSelf:
		return utf8.AppendRune(dst, c)
	case shortEscapes[c] != "":
		return append(dst, shortEscapes[c]...)
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
