package toolfmt

import (
	"errors"
	"regexp/syntax"
	"strings"
	"testing"
)

func TestMayFoldCase_FindsGroupFlag(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]bool{
		`(?i)a`: true, `a(?i:b)`: true, `(?smi)a`: true, `(?i-s:a)`: true, `\\(?i)a`: true, `(?:x(?i))`: true, `\Qa\\E(?i)a`: true, `[\](](?i)a`: true,
		`(?:niedrig|hoch)`: false, `(?-i)a`: false, `(?P<i>a)`: false, `(?<i>a)`: false, `\(?i`: false, `(?:a)i`: false, `i`: false, ``: false, `(?`: false,
	} {
		if got := mayFoldCase(expression); got != want {
			t.Errorf("%s: %v", expression, got)
		}
		if re, err := syntax.Parse(expression, syntax.Perl); err == nil && foldsParsed(re) && !want {
			t.Errorf("%s ignores case when parsed", expression)
		}
	}
}

// foldsParsed reports whether a part of a parsed expression ignores case.
func foldsParsed(re *syntax.Regexp) bool {
	if re.Flags&syntax.FoldCase != 0 {
		return true
	}
	for _, sub := range re.Sub {
		if foldsParsed(sub) {
			return true
		}
	}
	return false
}

func TestPatternParser_RefusesBeyondBudget(t *testing.T) {
	t.Parallel()
	var p PatternParser
	parsed := 0
	for range 10 {
		if _, err := p.Parse(`(?i)[é-\x{1fff0}]`); err == nil {
			parsed++
		} else if !errors.Is(err, ErrPatternTooLarge) {
			t.Error(err)
		}
	}
	if parsed != 2 || p.Work() > maxParseWork {
		t.Errorf("%d expressions were parsed, with %d units", parsed, p.Work())
	}
	for expression, tooLarge := range map[string]bool{strings.Repeat("a", maxPatternBytes+1): true, `(`: false} {
		if _, err := new(PatternParser).Parse(expression); err == nil || errors.Is(err, ErrPatternTooLarge) != tooLarge {
			t.Errorf("%.40s: %v", expression, err)
		}
	}
}
