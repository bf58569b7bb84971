package redact

import (
	"bytes"
	"html"
	"unicode/utf16"
	"unicode/utf8"
)

// view is a decoded form of a text. text[i] stands for the bytes from[i] to to[i] of the original.
type view struct {
	text     []byte
	from, to []int32
}

func newView(text []byte) view {
	v := view{text: text, from: make([]int32, len(text)), to: make([]int32, len(text))}
	for i := range text {
		v.from[i], v.to[i] = int32(i), int32(i+1)
	}
	return v
}

// decodeWith returns a view of what next makes of v: the bytes for the first n bytes of rest.
func (v view) decodeWith(next func(rest []byte) (decoded []byte, n int)) view {
	out := view{make([]byte, 0, len(v.text)), make([]int32, 0, len(v.text)), make([]int32, 0, len(v.text))}
	for at := 0; at < len(v.text); {
		decoded, n := next(v.text[at:])
		for _, c := range decoded {
			out.appendByte(c, v.from[at], v.to[at+n-1])
		}
		at += n
	}
	return out
}

func (v *view) appendByte(c byte, from, to int32) {
	v.text, v.from, v.to = append(v.text, c), append(v.from, from), append(v.to, to)
}

// decodeViews returns the text in every usual decoding, each without white space, so that a secret on two lines is whole.
func decodeViews(text []byte) []view {
	plain := []view{newView(text)}
	if bytes.IndexByte(text, '\\') >= 0 {
		once := plain[0].decodeWith(decodeJSONEscape)
		plain = append(plain, once)
		if bytes.IndexByte(once.text, '\\') >= 0 {
			plain = append(plain, once.decodeWith(decodeJSONEscape)) // JSON in a JSON string
		}
	}
	for _, v := range plain {
		if bytes.IndexByte(v.text, '&') >= 0 {
			plain = append(plain, v.decodeWith(decodeEntity))
		}
	}
	for _, v := range plain {
		if bytes.IndexByte(v.text, '%') >= 0 || bytes.IndexByte(v.text, '+') >= 0 {
			plain = append(plain, v.decodeWith(decodePercent), v.decodeWith(decodeForm))
		}
	}
	var all []view
	for _, v := range plain {
		v = v.decodeWith(dropSpace)
		decoded := []view{v.decodeHex(0), v.decodeHex(1)}
		for skip := range 4 {
			decoded = append(decoded, v.decodeBase64(skip))
		}
		all = append(all, v)
		for _, d := range decoded {
			all = append(all, d.decodeWith(dropSpace))
		}
	}
	return all
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

func dropSpace(rest []byte) ([]byte, int) {
	if isSpace(rest[0]) {
		return nil, 1
	}
	return rest[:1], 1
}

// decodeJSONEscape decodes one escape of a JSON string (RFC 8259 section 7).
func decodeJSONEscape(rest []byte) ([]byte, int) {
	if rest[0] != '\\' || len(rest) == 1 {
		return rest[:1], 1
	}
	switch rest[1] {
	case 'n', 'r', 't':
		return []byte{' '}, 2
	case '"', '\\', '/':
		return rest[1:2], 2
	case 'u':
		return decodeUnicodeEscape(rest)
	}
	return rest[:1], 1
}

// decodeUnicodeEscape decodes an escape such as \u00e9, or two for a character beyond the basic plane.
func decodeUnicodeEscape(rest []byte) ([]byte, int) {
	const size = len(`\u0000`)
	first, ok := hexRune(rest)
	if !ok {
		return rest[:1], 1
	}
	if utf16.IsSurrogate(first) && len(rest) >= 2*size && rest[size] == '\\' && rest[size+1] == 'u' {
		if second, ok := hexRune(rest[size:]); ok {
			return utf8.AppendRune(nil, utf16.DecodeRune(first, second)), 2 * size
		}
	}
	return utf8.AppendRune(nil, first), size
}

// hexRune reads the four hexadecimal digits after "\u".
func hexRune(escape []byte) (r rune, ok bool) {
	if len(escape) < len(`\u0000`) {
		return 0, false
	}
	for _, c := range escape[2:6] {
		d := hexDigits[c]
		if d < 0 {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

// maxEntity is the length of the longest entity that is decoded, in bytes.
const maxEntity = 12

// decodeEntity decodes one character reference of HTML.
func decodeEntity(rest []byte) ([]byte, int) {
	if rest[0] != '&' {
		return rest[:1], 1
	}
	end := bytes.IndexByte(rest[:min(len(rest), maxEntity)], ';')
	if end < 0 {
		return rest[:1], 1
	}
	decoded := html.UnescapeString(string(rest[:end+1]))
	if decoded == string(rest[:end+1]) {
		return rest[:1], 1
	}
	return []byte(decoded), end + 1
}

// decodePercent decodes %XX (RFC 3986 section 2.1).
func decodePercent(rest []byte) ([]byte, int) {
	if rest[0] != '%' || len(rest) < 3 || hexDigits[rest[1]] < 0 || hexDigits[rest[2]] < 0 {
		return rest[:1], 1
	}
	return []byte{byte(hexDigits[rest[1]])<<4 | byte(hexDigits[rest[2]])}, 3
}

// decodeForm is decodePercent for forms, where "+" is a blank.
func decodeForm(rest []byte) ([]byte, int) {
	if rest[0] == '+' {
		return []byte{' '}, 1
	}
	return decodePercent(rest)
}

// hexDigits maps a byte to the value of its hexadecimal digit; -1: it is none.
var hexDigits = newDigitTable("0123456789abcdef", "0123456789ABCDEF")

// base64Digits maps a byte to its value in both alphabets of RFC 4648; -1: it is in none.
var base64Digits = newDigitTable(
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
)

func newDigitTable(alphabets ...string) (table [256]int8) {
	for i := range table {
		table[i] = -1
	}
	for _, alphabet := range alphabets {
		for i := range len(alphabet) {
			table[alphabet[i]] = int8(i)
		}
	}
	return table
}

// decodeHex decodes every run of hexadecimal digits, without its first skip digits. A zero byte ends each run.
func (v view) decodeHex(skip int) view { return v.decodeDigits(&hexDigits, 4, 2, skip) }

// decodeBase64 decodes every run of base64 digits, without its first skip digits. A zero byte ends each run.
func (v view) decodeBase64(skip int) view { return v.decodeDigits(&base64Digits, 6, 4, skip) }

// decodeDigits decodes runs of digits of some bits each. A byte stands for all digits of its group.
func (v view) decodeDigits(table *[256]int8, bits, group, skip int) view {
	const minRun = 6 // four bytes in base64
	var out view
	for at := 0; at < len(v.text); {
		end := at
		for end < len(v.text) && table[v.text[end]] >= 0 {
			end++
		}
		if end-at-skip >= minRun {
			v.decodeRun(&out, table, bits, group, at+skip, end)
			out.appendByte(0, v.from[end-1], v.from[end-1])
		}
		at = end + 1
	}
	return out
}

func (v view) decodeRun(out *view, table *[256]int8, bits, group, from, to int) {
	for ; from < to; from += group {
		last := min(from+group, to)
		buffer, have := 0, 0
		for _, c := range v.text[from:last] {
			buffer, have = buffer<<bits|int(table[c]), have+bits
			if have >= 8 {
				have -= 8
				out.appendByte(byte(buffer>>have), v.from[from], v.to[last-1])
			}
		}
	}
}
