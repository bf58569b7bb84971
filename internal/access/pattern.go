package access

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Bounds of the regular expressions of one schema. A program's size is known before it is compiled.
const (
	maxPatternBytes   = 4 << 10 // of one
	maxPatternSteps   = 2_000   // instructions of one
	maxSchemaSteps    = 20_000  // instructions of all
	maxParseWork      = 10_000_000
	workPatternByte   = 200
	workWideClass     = 20_000    // \pL is 1292 code points
	workFoldedClass   = 1_500_000 // each code point is looked at
	workInstruction   = 12        // an instruction that is run on a character
	workCompile       = 1_000     // an instruction that is compiled
	patternBytes      = 120       // of memory for an instruction
	maxSchemaRunes    = 300_000   // bounds of character classes in the instructions of all
	runeBytes         = 6         // of memory for such a bound: a program that needs no backtracking copies them
	maxDirect         = 500_000   // units of a match that is not interrupted
	patternPrefixWork = 2         // a match may take this part of what is left
)

// pattern is a compiled regular expression. Without a form every verdict is undecided.
type pattern struct {
	form  *regexp.Regexp
	steps int // instructions
}

// matches judges a text. The work is bounded by instructions times characters.
func (r *run) matches(p *pattern, text quoted) verdict {
	if p.form == nil {
		return undecided
	}
	if work := workInstruction * p.steps * (len(text.raw) + 1); text.plain && work <= maxDirect {
		if !r.afford(work) {
			return undecided
		}
		return sure(p.form.Match(text.raw))
	}
	return r.matchesLong(p, text)
}

// matchesLong is for texts that a match could take long on: it ends early, and is interrupted.
func (r *run) matchesLong(p *pattern, text quoted) verdict {
	reader := &runeReader{ctx: r.ctx, text: text, each: workInstruction*p.steps + workEscape, left: (r.budget - r.work) / patternPrefixWork}
	fits := p.form.MatchReader(reader)
	if r.spend(reader.spent); reader.stopped {
		r.partial = true
		return undecided
	}
	return sure(fits)
}

// patternWork is a bound of what parsing an expression costs, in units.
func patternWork(expression string) int {
	wide := strings.Count(expression, `\p`) + strings.Count(expression, `\P`) + strings.Count(expression, `\x{`)
	for _, c := range expression {
		if c >= utf8.RuneSelf {
			wide++
		}
	}
	each := workWideClass
	if folds(expression) {
		each = workFoldedClass
	}
	return workPatternByte*len(expression) + each*wide
}

// folds reports whether an expression may ignore case in a part: whether one of its groups has the flag i. It reads the text, since parsing is
// what it is asked about.
func folds(expression string) bool {
	for i := 0; i < len(expression); i++ {
		switch {
		case expression[i] == '\\':
			i++ // an escaped parenthesis begins no group
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

// programSize estimates the instructions of an expression's program from above, as package syntax does, without making it.
func programSize(re *syntax.Regexp) int {
	size := 0
	for _, sub := range re.Sub {
		size = min(size+programSize(sub), maxSchemaSteps+1)
	}
	switch re.Op {
	case syntax.OpLiteral:
		size = len(re.Rune)
	case syntax.OpCapture, syntax.OpStar:
		size += 2
	case syntax.OpPlus, syntax.OpQuest:
		size++
	case syntax.OpAlternate:
		size += len(re.Sub)
	case syntax.OpRepeat:
		if re.Max < 0 {
			size = 2 + max(1, re.Min)*size
		} else {
			size = re.Max*size + re.Max - re.Min
		}
	}
	return min(max(1, size), maxSchemaSteps+1)
}

// programRunes estimates from above how many bounds of character classes an expression's program has: each instruction of a class has all
// of them.
func programRunes(re *syntax.Regexp) int {
	runes := 0
	for _, sub := range re.Sub {
		runes = min(runes+programRunes(sub), maxSchemaRunes+1)
	}
	switch re.Op {
	case syntax.OpLiteral, syntax.OpCharClass:
		runes = len(re.Rune)
	case syntax.OpRepeat:
		runes *= max(1, re.Min, re.Max)
	}
	return min(runes, maxSchemaRunes+1)
}
