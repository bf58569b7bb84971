package agentview

import (
	"regexp"
	"regexp/syntax"
)

// Bounds of the regular expressions of one schema. A program's size is known before it is compiled.
const (
	maxPatternInstructions = 2_000   // of one expression
	maxSchemaInstructions  = 20_000  // of all expressions
	workInstruction        = 12      // to run an instruction on a character
	workCompile            = 1_000   // to compile an instruction
	patternBytes           = 120     // memory of an instruction
	maxSchemaRunes         = 300_000 // character class bounds in all instructions
	runeBytes              = 6       // memory of such a bound, which one-pass programs copy
	maxUninterrupted       = 500_000 // work units of a match that cannot be interrupted
	matchBudgetShare       = 2       // divisor of the remaining budget for one match
)

// pattern is a compiled regular expression. With a nil regexp every match is undecided.
type pattern struct {
	regexp       *regexp.Regexp
	instructions int
}

// matchPattern matches a text. The work is at most instructions times characters.
func (r *validator) matchPattern(p *pattern, text jsonString) validity {
	if p.regexp == nil {
		return undecided
	}
	if work := workInstruction * p.instructions * (len(text.raw) + 1); text.isUnescaped && work <= maxUninterrupted {
		if !r.reserveWork(work) {
			return undecided
		}
		return toValidity(p.regexp.Match(text.raw))
	}
	return r.matchLongText(p, text)
}

// matchLongText matches through a reader that stops when the budget or the context ends.
func (r *validator) matchLongText(p *pattern, text jsonString) validity {
	reader := &runeReader{ctx: r.ctx, text: text, workPerRune: workInstruction*p.instructions + workEscape, budget: (r.budget - r.work) / matchBudgetShare}
	fits := p.regexp.MatchReader(reader)
	if r.spendWork(reader.work); reader.stopped {
		r.partial = true
		return undecided
	}
	return toValidity(fits)
}

// programSize estimates from above the instructions of an expression's compiled program.
func programSize(re *syntax.Regexp) int {
	size := 0
	for _, sub := range re.Sub {
		size = min(size+programSize(sub), maxSchemaInstructions+1)
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
	return min(max(1, size), maxSchemaInstructions+1)
}

// programRunes estimates from above the character class bounds in a program. Each instruction of a class has
// all of them.
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
