package ajv

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxPattern = 4 << 10 // bytes
	maxRepeat  = 1000
)

// validPattern reports whether a regular expression is sure to be one of ECMAScript with the flag u, as Ajv compiles it.
func validPattern(text string) bool {
	p := pattern{rest: text}
	return len(text) <= maxPattern && utf8.ValidString(text) && p.alternatives(0) && p.rest == ""
}

// pattern is a regular expression that is being read.
type pattern struct{ rest string }

// take reads s where the rest begins with it.
func (p *pattern) take(s string) bool {
	var ok bool
	p.rest, ok = strings.CutPrefix(p.rest, s)
	return ok
}

// alternatives reads up to the end, or to the bracket that closes a group.
func (p *pattern) alternatives(depth int) bool {
	for p.rest != "" && p.rest[0] != ')' {
		if !p.take("|") && !p.term(depth) {
			return false
		}
	}
	return true
}

// term reads an assertion, or an atom with its quantifier.
func (p *pattern) term(depth int) bool {
	for _, assertion := range []string{"^", "$", `\b`, `\B`} {
		if p.take(assertion) {
			return true
		}
	}
	if p.take("(") {
		return depth < maxDepth && p.group(depth+1)
	}
	return p.atom() && p.quantifier()
}

// group reads a group whose bracket was read, with its quantifier.
func (p *pattern) group(depth int) bool {
	repeats := true
	switch {
	case p.take("?:"):
	case p.take("?=") || p.take("?!") || p.take("?<=") || p.take("?<!"):
		repeats = false
	case strings.HasPrefix(p.rest, "?"):
		return false
	}
	return p.alternatives(depth) && p.take(")") && (!repeats || p.quantifier())
}

// atom reads one character, or what stands for one.
func (p *pattern) atom() bool {
	if p.rest == "" {
		return false
	}
	switch p.rest[0] {
	case '\\':
		_, ok := p.escape(`^$\.*+?()[]{}|/`)
		return ok
	case '[':
		return p.class()
	case '*', '+', '?', '{', '}', ']', '(', ')', '|':
		return false
	}
	p.char()
	return true
}

func (p *pattern) char() rune {
	c, size := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[size:]
	return c
}

// many is what escape returns for an escape that stands for several characters.
const many = -1

// escape reads a backslash and what it escapes. itself are the characters that stand for themselves.
func (p *pattern) escape(itself string) (c rune, ok bool) {
	p.take(`\`)
	if p.rest == "" {
		return 0, false
	}
	switch c := p.char(); {
	case strings.ContainsRune(itself, c):
		return c, true
	case strings.ContainsRune("dDwWsS", c):
		return many, true
	case strings.ContainsRune("tnrvf", c):
		return rune("\t\n\r\v\f"[strings.IndexRune("tnrvf", c)]), true
	case c == 'x':
		return p.hex(2)
	case c == 'u':
		return p.hex(4)
	case c == 'p' || c == 'P':
		for _, name := range []string{"L", "Lu", "Ll", "N", "Nd", "P", "S", "Z"} {
			if p.take("{" + name + "}") {
				return many, true
			}
		}
	}
	return 0, false
}

// hex reads a character by its code. Halves of surrogate pairs are refused.
func (p *pattern) hex(digits int) (rune, bool) {
	if len(p.rest) < digits {
		return 0, false
	}
	n, err := strconv.ParseUint(p.rest[:digits], 16, 32)
	p.rest = p.rest[digits:]
	return rune(n), err == nil && (n < 0xD800 || n > 0xDFFF)
}

// quantifier reads a quantifier where there is one.
func (p *pattern) quantifier() bool {
	switch {
	case p.take("*"), p.take("+"):
	case p.take("?"):
		p.take("?")
		return true
	case p.take("{"):
		counts, rest, ok := strings.Cut(p.rest, "}")
		low, high, ranged := strings.Cut(counts, ",")
		p.rest = rest
		from, err := strconv.ParseUint(low, 10, 16)
		if !ok || err != nil || from > maxRepeat {
			return false
		}
		if to, err := strconv.ParseUint(high, 10, 16); ranged && high != "" && (err != nil || to < from || to > maxRepeat) {
			return false
		}
	default:
		return true
	}
	p.take("?")
	return true
}

// class reads a set of characters.
func (p *pattern) class() bool {
	p.take("[")
	p.take("^")
	for p.rest != "" && p.rest[0] != ']' {
		from, ok := p.element()
		if !ok {
			return false
		}
		if !strings.HasPrefix(p.rest, "-") || strings.HasPrefix(p.rest, "-]") {
			continue
		}
		p.take("-")
		if to, ok := p.element(); !ok || from == many || to == many || to < from {
			return false
		}
	}
	return p.take("]")
}

// element reads one element of a set.
func (p *pattern) element() (rune, bool) {
	switch {
	case p.rest == "":
		return 0, false
	case p.rest[0] == '\\':
		return p.escape(`^$\.*+?()[]{}|/-`)
	}
	return p.char(), true
}
