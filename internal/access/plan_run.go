package access

import (
	"bytes"
	"encoding/json"
	"math"
	"unicode/utf8"
)

// judge tells whether a plan takes a valid JSON text. tired: it would have been too much work to know.
func (p *plan) judge(text []byte) (accepts, tired bool) {
	r := run{text: text, most: mostSteps + len(text)} // large is not yet too much
	_, ok := r.value(p, r.space(0))
	return ok, r.steps > r.most
}

// run is one check. text is valid JSON: nothing here looks for its end in vain.
type run struct {
	text  []byte
	most  int // steps
	steps int
}

// value checks the value at a place, and tells where it ends. Where it is not accepted, the end is of no use.
func (r *run) value(p *plan, at int) (end int, ok bool) {
	if p == nil {
		return r.skip(at), true
	}
	if r.steps++; r.steps > r.most || p.never {
		return at, false
	}
	for _, sub := range p.all {
		if _, ok := r.value(sub, at); !ok {
			return at, false
		}
	}
	if p.anyOf != nil && !r.any(p.anyOf, at) {
		return at, false
	}
	switch r.text[at] {
	case '{':
		return r.object(p, at)
	case '[':
		return r.array(p, at)
	case '"':
		return r.string(p, at)
	case 't', 'f', 'n':
		return r.word(p, at)
	default:
		return r.number(p, at)
	}
}

func (r *run) any(plans []*plan, at int) bool {
	for _, p := range plans {
		if _, ok := r.value(p, at); ok {
			return true
		}
	}
	return false
}

func (p *plan) takes(kind kindSet) bool { return p.kinds == 0 || p.kinds&kind != 0 }

func (r *run) object(p *plan, at int) (end int, ok bool) {
	if !p.takes(isObject) || p.enum != nil {
		return at, false
	}
	var seen uint64
	for at = r.space(at + 1); r.text[at] != '}'; {
		key, end := r.quoted(at)
		at = r.space(r.space(end) + 1) // behind the colon
		m := p.members[string(key)]
		seen |= m.bit
		sub := m.plan
		if !m.declared {
			sub = p.others
		}
		if at, ok = r.value(sub, at); !ok {
			return at, false
		}
		if at = r.space(at); r.text[at] == ',' {
			at = r.space(at + 1)
		}
	}
	return at + 1, seen == p.needed
}

func (r *run) array(p *plan, at int) (end int, ok bool) {
	if !p.takes(isArray) || p.enum != nil {
		return at, false
	}
	n := 0
	for at = r.space(at + 1); r.text[at] != ']'; n++ {
		if at, ok = r.value(p.items, at); !ok {
			return at, false
		}
		if at = r.space(at); r.text[at] == ',' {
			at = r.space(at + 1)
		}
	}
	return at + 1, n >= p.minItems && (p.maxItems < 0 || n <= p.maxItems)
}

func (r *run) string(p *plan, at int) (end int, ok bool) {
	if !p.takes(isString) {
		return at, false
	}
	if p.enum == nil && p.minText == 0 && p.maxText < 0 && p.form == nil {
		return r.skip(at), true
	}
	text, end := r.quoted(at)
	if p.enum != nil && !p.enum.texts[string(text)] {
		return end, false
	}
	if p.minText > 0 || p.maxText >= 0 {
		n := utf8.RuneCount(text)
		if n < p.minText || p.maxText >= 0 && n > p.maxText {
			return end, false
		}
	}
	return end, p.form == nil || p.form.Match(text)
}

func (r *run) word(p *plan, at int) (end int, ok bool) {
	end = r.skip(at)
	kind := isBool
	if r.text[at] == 'n' {
		kind = isNull
	}
	return end, p.takes(kind) && (p.enum == nil || p.enum.other[string(r.text[at:end])])
}

func (r *run) number(p *plan, at int) (end int, ok bool) {
	end = r.skip(at)
	if free := p.enum == nil && !p.bounded(); free && (p.takes(isNumber) || p.takes(isInteger) && whole(r.text[at:end])) {
		return end, true
	}
	v, err := judged(r.text[at:end])
	if err != nil {
		return end, false // too large for the library, too
	}
	kind := isNumber
	if v == math.Trunc(v) {
		kind = isInteger
	}
	switch {
	case !p.takes(kind),
		p.enum != nil && !p.enum.numbers[v],
		p.low != nil && v < *p.low, p.high != nil && v > *p.high,
		p.above != nil && v <= *p.above, p.below != nil && v >= *p.below:
		return end, false
	}
	return end, true
}

// whole tells whether a number is written as an integer.
func whole(number []byte) bool { return !bytes.ContainsAny(number, ".eE") }

func (p *plan) bounded() bool {
	return p.low != nil || p.high != nil || p.above != nil || p.below != nil
}

// quoted reads a string, and tells where it ends. Only one with escapes is made anew.
func (r *run) quoted(at int) (text []byte, end int) {
	plain := true
	for end = at + 1; r.text[end] != '"'; end++ {
		if r.text[end] == '\\' {
			plain = false
			end++
		}
	}
	if plain {
		return r.text[at+1 : end], end + 1
	}
	var s string
	_ = json.Unmarshal(r.text[at:end+1], &s) // it is valid
	return []byte(s), end + 1
}

// skip passes a value, whatever it is.
func (r *run) skip(at int) (end int) {
	depth := 0
	for end = at; end < len(r.text); end++ {
		switch c := r.text[end]; c {
		case '"':
			for end++; r.text[end] != '"'; end++ {
				if r.text[end] == '\\' {
					end++
				}
			}
			if depth == 0 {
				return end + 1
			}
		case '{', '[':
			depth++
		case '}', ']', ',', ' ', '\t', '\n', '\r':
			switch {
			case depth == 0:
				return end // of a number or a word
			case c == '}' || c == ']':
				if depth--; depth == 0 {
					return end + 1
				}
			}
		}
	}
	return end
}

func (r *run) space(at int) int {
	for at < len(r.text) && (r.text[at] == ' ' || r.text[at] == '\n' || r.text[at] == '\t' || r.text[at] == '\r') {
		at++
	}
	return at
}
