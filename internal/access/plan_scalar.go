package access

import (
	"bytes"
	"math"
	"unicode/utf8"
)

const (
	workDigit  = 16 // a byte of a number that is converted
	workEscape = 8  // a byte of a text with escapes that is read
)

func (r *run) string(p *plan, at int) (end int, v verdict) {
	if p.enum == nil && p.minText == 0 && p.maxText < 0 && p.pattern == nil {
		return r.skip(at), accepted
	}
	text, end := r.quoted(at)
	if p.enum != nil && !r.among(p.enum, text) {
		return end, refused
	}
	if p.minText > 0 || p.maxText >= 0 {
		n := r.characters(text)
		if n < p.minText || p.maxText >= 0 && n > p.maxText {
			return end, refused
		}
	}
	if p.pattern != nil {
		return end, r.matches(p.pattern, text)
	}
	return end, accepted
}

// quoted is what stands between the quotes of a string.
func (r *run) quoted(at int) (text quoted, end int) {
	text.plain = true
	for end = at + 1; r.text[end] != '"'; end++ {
		if r.text[end] == '\\' {
			text.plain = false
			end++
		}
	}
	text.raw = r.text[at+1 : end]
	r.spend(end - at)
	return text, end + 1
}

// among reports whether a text is one of an enum's.
func (r *run) among(e *enum, text quoted) bool {
	if text.plain {
		return e.texts[string(text.raw)]
	}
	if len(text.raw) > len(`\u0000`)*e.longest {
		return false
	}
	return e.texts[string(r.unescaped(text))]
}

// unescaped is a text without its escapes. It lasts until the next one.
func (r *run) unescaped(text quoted) []byte {
	if text.plain {
		return text.raw
	}
	if !r.afford(workEscape * len(text.raw)) {
		return nil
	}
	r.scratch = text.appendTo(r.scratch[:0])
	return r.scratch
}

// characters counts the Unicode code points of a text.
func (r *run) characters(text quoted) (n int) {
	if text.plain {
		r.spend(len(text.raw))
		return utf8.RuneCount(text.raw)
	}
	if !r.afford(workEscape * len(text.raw)) {
		return 0
	}
	for at := 0; at < len(text.raw); n++ {
		_, size := text.rune(at)
		at += size
	}
	return n
}

func (r *run) word(p *plan, at int) (end int, v verdict) {
	end = r.skip(at)
	if p.enum != nil && !p.enum.other[string(r.text[at:end])] {
		return end, refused
	}
	return end, accepted
}

func (r *run) number(p *plan, at int) (end int, v verdict) {
	end = r.skip(at)
	if free := p.enum == nil && !p.bounded(); free && (p.takes(isNumber) || p.takes(isInteger) && whole(r.text[at:end])) {
		return end, accepted
	}
	if !r.afford(workDigit * (end - at)) {
		return end, undecided
	}
	n, err := judged(r.text[at:end])
	if err != nil {
		return end, refused // no float holds it
	}
	kind := isNumber
	if n == math.Trunc(n) {
		kind = isInteger
	}
	switch {
	case !p.takes(kind),
		p.enum != nil && !p.enum.numbers[n],
		p.low != nil && n < *p.low, p.high != nil && n > *p.high,
		p.above != nil && n <= *p.above, p.below != nil && n >= *p.below,
		p.rare != nil && p.rare.multipleOf != 0 && !multiple(n, p.rare.multipleOf):
		return end, refused
	}
	return end, accepted
}

func multiple(n, of float64) bool {
	_, rest := math.Modf(n / of)
	return rest == 0
}

// whole reports whether a number is written as an integer.
func whole(number []byte) bool { return !bytes.ContainsAny(number, ".eE") }
