package toolfmt

import (
	"errors"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Bounds of the regular expressions of one schema, in units of about a nanosecond.
const (
	maxPatternBytes = 4 << 10 // of one expression
	maxParseWork    = 8_000_000
	workPatternByte = 400
	workWideClass   = 50_000  // \pL has 1292 bounds
	workFoldedRune  = 30      // of a range that ignores case: the parser looks at each character
	maxFoldedRunes  = 125_000 // characters up to the last with case
)

// ErrPatternTooLarge means that an expression may be too expensive to parse.
var ErrPatternTooLarge = errors.New("regular expression too large")

// PatternParser parses the regular expressions of one schema within a budget of work. The zero value is ready
// for use.
type PatternParser struct{ work int }

// Work returns the units that parsing has taken, estimated from above.
func (p *PatternParser) Work() int { return p.work }

// Parse parses an expression in RE2 syntax. The error is [ErrPatternTooLarge], decided before parsing where
// possible, or a [syntax.Error].
func (p *PatternParser) Parse(expression string) (*syntax.Regexp, error) {
	if len(expression) > maxPatternBytes {
		return nil, ErrPatternTooLarge
	}
	work := patternWork(expression)
	if p.work+work > maxParseWork {
		return nil, ErrPatternTooLarge
	}
	p.work += work
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if e, ok := errors.AsType[*syntax.Error](err); ok && e.Code == syntax.ErrLarge {
		return nil, ErrPatternTooLarge
	}
	return parsed, err
}

// patternWork estimates from above the work units of parsing an expression.
func patternWork(expression string) int {
	work := workPatternByte*len(expression) + workWideClass*(strings.Count(expression, `\p`)+strings.Count(expression, `\P`))
	if mayFoldCase(expression) {
		work += workFoldedRune * countRangeRunes(expression)
	}
	return work
}

// countRangeRunes estimates from above the characters in all ranges. Those of the Latin script cost more than
// others.
func countRangeRunes(expression string) int {
	const latin, allLatin = 200, 1_200
	runes := 0
	for before, rest, found := strings.Cut(expression, "-"); found; before, rest, found = strings.Cut(rest, "-") {
		first, _ := utf8.DecodeLastRuneInString(before) // the last character of an escape is below the escaped one, or ASCII
		last, _ := utf8.DecodeRuneInString(rest)
		switch {
		case strings.HasPrefix(rest, `\x{`):
			runes += maxFoldedRunes
		case last == '\\': // at most \777
			runes += allLatin
		case last >= utf8.RuneSelf:
			runes += latin + min(maxFoldedRunes, max(0, int(last-first)))
		default:
			runes += latin / 4
		}
	}
	return runes
}

// mayFoldCase reports whether a group of the expression has the flag i. It works on the text, because it bounds
// the cost of parsing.
func mayFoldCase(expression string) bool {
	for i := 0; i < len(expression); i++ {
		switch {
		case expression[i] == '\\':
			i++ // an escaped parenthesis opens no group
		case strings.HasPrefix(expression[i:], "(?"):
			flags := expression[i+2:]
			flags = flags[:len(flags)-len(strings.TrimLeft(flags, "imsU-"))]
			if set, _, _ := strings.Cut(flags, "-"); strings.Contains(set, "i") {
				return true
			}
		}
	}
	return false
}
