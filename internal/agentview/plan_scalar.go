package agentview

import (
	"bytes"
	"math"
	"unicode/utf8"
)

const (
	workDigit  = 16 // to convert a byte of a number
	workEscape = 8  // to read a byte of an escaped string
)

func (r *validator) validateString(p *plan, pos int) (end int, v validity) {
	if p.enum == nil && p.minLength == 0 && p.maxLength < 0 && p.pattern == nil {
		return r.skipValue(pos), valid
	}
	text, end := r.readString(pos)
	if p.enum != nil && !r.isEnumString(p.enum, text) {
		return end, invalid
	}
	if p.minLength > 0 || p.maxLength >= 0 {
		n := r.countRunes(text)
		if n < p.minLength || p.maxLength >= 0 && n > p.maxLength {
			return end, invalid
		}
	}
	if p.pattern != nil {
		return end, r.matchPattern(p.pattern, text)
	}
	return end, valid
}

// readString returns the text between the quotes of the string at pos.
func (r *validator) readString(pos int) (text jsonString, end int) {
	text.isUnescaped = true
	for end = pos + 1; r.text[end] != '"'; end++ {
		if r.text[end] == '\\' {
			text.isUnescaped = false
			end++
		}
	}
	text.raw = r.text[pos+1 : end]
	r.spendWork(end - pos)
	return text, end + 1
}

func (r *validator) isEnumString(e *enumValues, text jsonString) bool {
	if text.isUnescaped {
		return e.strings[string(text.raw)]
	}
	if len(text.raw) > len(`\u0000`)*e.maxStringBytes {
		return false
	}
	return e.strings[string(r.unescapeString(text))]
}

// unescapeString returns the text without escapes, valid until the next call.
func (r *validator) unescapeString(text jsonString) []byte {
	if text.isUnescaped {
		return text.raw
	}
	if !r.reserveWork(workEscape * len(text.raw)) {
		return nil
	}
	r.scratch = text.appendTo(r.scratch[:0])
	return r.scratch
}

// countRunes returns the length of a string as JSON Schema counts it: in code points.
func (r *validator) countRunes(text jsonString) (n int) {
	if text.isUnescaped {
		r.spendWork(len(text.raw))
		return utf8.RuneCount(text.raw)
	}
	if !r.reserveWork(workEscape * len(text.raw)) {
		return 0
	}
	for pos := 0; pos < len(text.raw); n++ {
		_, size := text.decodeRune(pos)
		pos += size
	}
	return n
}

func (r *validator) validateLiteral(p *plan, pos int) (end int, v validity) {
	end = r.skipValue(pos)
	if p.enum != nil && !p.enum.literals[string(r.text[pos:end])] {
		return end, invalid
	}
	return end, valid
}

func (r *validator) validateNumber(p *plan, pos int) (end int, v validity) {
	end = r.skipValue(pos)
	if free := p.enum == nil && !p.hasBounds(); free && (p.allowsType(typeNumber) || p.allowsType(typeInteger) && isWrittenWhole(r.text[pos:end])) {
		return end, valid
	}
	if !r.reserveWork(workDigit * (end - pos)) {
		return end, undecided
	}
	n, err := parseNumber(r.text[pos:end])
	if err != nil {
		return end, invalid // beyond float64
	}
	kind := typeNumber
	if n == math.Trunc(n) {
		kind = typeInteger
	}
	switch {
	case !p.allowsType(kind),
		p.enum != nil && !p.enum.numbers[n],
		p.minimum != nil && n < *p.minimum, p.maximum != nil && n > *p.maximum,
		p.exclusiveMinimum != nil && n <= *p.exclusiveMinimum, p.exclusiveMaximum != nil && n >= *p.exclusiveMaximum,
		p.rare != nil && p.rare.multipleOf != 0 && !isMultiple(n, p.rare.multipleOf):
		return end, invalid
	}
	return end, valid
}

func isMultiple(n, of float64) bool {
	_, rest := math.Modf(n / of)
	return rest == 0
}

// isWrittenWhole reports whether a number has neither fraction nor exponent.
func isWrittenWhole(number []byte) bool { return !bytes.ContainsAny(number, ".eE") }
