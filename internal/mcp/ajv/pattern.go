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

// isValidPattern reports whether text is certainly a regular expression of ECMAScript with the flag u, as Ajv
// uses it.
func isValidPattern(text string) bool {
	p := patternParser{rest: text}
	return len(text) <= maxPattern && utf8.ValidString(text) && p.readAlternatives(0) && p.rest == ""
}

// patternParser parses a regular expression.
type patternParser struct{ rest string }

// acceptText consumes s if it comes next.
func (p *patternParser) acceptText(s string) bool {
	var ok bool
	p.rest, ok = strings.CutPrefix(p.rest, s)
	return ok
}

// readAlternatives reads to the end or to the group's closing bracket.
func (p *patternParser) readAlternatives(depth int) bool {
	for p.rest != "" && p.rest[0] != ')' {
		if !p.acceptText("|") && !p.readTerm(depth) {
			return false
		}
	}
	return true
}

// readTerm reads an assertion, or an atom with its quantifier.
func (p *patternParser) readTerm(depth int) bool {
	for _, assertion := range []string{"^", "$", `\b`, `\B`} {
		if p.acceptText(assertion) {
			return true
		}
	}
	if p.acceptText("(") {
		return depth < maxDepth && p.readGroup(depth+1)
	}
	return p.readAtom() && p.readQuantifier()
}

// readGroup reads a group behind its opening bracket, with its quantifier.
func (p *patternParser) readGroup(depth int) bool {
	repeats := true
	switch {
	case p.acceptText("?:"):
	case p.acceptText("?=") || p.acceptText("?!") || p.acceptText("?<=") || p.acceptText("?<!"):
		repeats = false
	case strings.HasPrefix(p.rest, "?"):
		return false
	}
	return p.readAlternatives(depth) && p.acceptText(")") && (!repeats || p.readQuantifier())
}

// readAtom reads one character or class.
func (p *patternParser) readAtom() bool {
	if p.rest == "" {
		return false
	}
	switch p.rest[0] {
	case '\\':
		_, ok := p.readEscape(`^$\.*+?()[]{}|/`)
		return ok
	case '[':
		return p.readClass()
	case '*', '+', '?', '{', '}', ']', '(', ')', '|':
		return false
	}
	p.readChar()
	return true
}

func (p *patternParser) readChar() rune {
	c, size := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[size:]
	return c
}

// manyChars is the result of readEscape for an escape of several characters.
const manyChars = -1

// readEscape reads an escape. itself are the characters that may be escaped as themselves.
func (p *patternParser) readEscape(itself string) (c rune, ok bool) {
	p.acceptText(`\`)
	if p.rest == "" {
		return 0, false
	}
	switch c := p.readChar(); {
	case strings.ContainsRune(itself, c):
		return c, true
	case strings.ContainsRune("dDwWsS", c):
		return manyChars, true
	case strings.ContainsRune("tnrvf", c):
		return rune("\t\n\r\v\f"[strings.IndexRune("tnrvf", c)]), true
	case c == 'x':
		return p.readHex(2)
	case c == 'u':
		return p.readHex(4)
	case c == 'p' || c == 'P':
		for _, name := range []string{"L", "Lu", "Ll", "N", "Nd", "P", "S", "Z"} {
			if p.acceptText("{" + name + "}") {
				return manyChars, true
			}
		}
	}
	return 0, false
}

// readHex reads a character code. Surrogates are refused.
func (p *patternParser) readHex(digits int) (rune, bool) {
	if len(p.rest) < digits {
		return 0, false
	}
	n, err := strconv.ParseUint(p.rest[:digits], 16, 32)
	p.rest = p.rest[digits:]
	return rune(n), err == nil && (n < 0xD800 || n > 0xDFFF)
}

// readQuantifier reads an optional quantifier.
func (p *patternParser) readQuantifier() bool {
	switch {
	case p.acceptText("*"), p.acceptText("+"):
	case p.acceptText("?"):
		p.acceptText("?")
		return true
	case p.acceptText("{"):
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
	p.acceptText("?")
	return true
}

// readClass reads a character class.
func (p *patternParser) readClass() bool {
	p.acceptText("[")
	p.acceptText("^")
	for p.rest != "" && p.rest[0] != ']' {
		from, ok := p.readElement()
		if !ok {
			return false
		}
		if !strings.HasPrefix(p.rest, "-") || strings.HasPrefix(p.rest, "-]") {
			continue
		}
		p.acceptText("-")
		if to, ok := p.readElement(); !ok || from == manyChars || to == manyChars || to < from {
			return false
		}
	}
	return p.acceptText("]")
}

// readElement reads one element of a class.
func (p *patternParser) readElement() (rune, bool) {
	switch {
	case p.rest == "":
		return 0, false
	case p.rest[0] == '\\':
		return p.readEscape(`^$\.*+?()[]{}|/-`)
	}
	return p.readChar(), true
}
