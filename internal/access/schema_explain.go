package access

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// explainer finds out why a run refused a value. It goes on with the run's budget.
type explainer struct{ *run }

// explain says why a value is refused, in one sentence that names the place and quotes nothing of the value; empty: it sees no reason.
func (r *run) explain(p *plan) string {
	said := explainer{r}.value(p, r.root, "")
	if r.stopped {
		return ""
	}
	return said
}

// refuses reports whether a value is refused.
func (e explainer) refuses(p *plan, at int) bool {
	_, v := e.run.value(p, at, nil)
	return v == refused && !e.stopped
}

// value looks for the first rule that a refused value breaks; empty: none that has a sentence of its own.
func (e explainer) value(p *plan, at int, path string) string {
	if e.depth == maxDepth {
		return ""
	}
	e.depth++
	defer func() { e.depth-- }()
	if said := e.scalar(p, at, path); said != "" {
		return said
	}
	for _, sub := range p.all {
		if e.refuses(sub, at) {
			return e.value(sub, at, path)
		}
	}
	if said := e.choice(p, at, path); said != "" {
		return said
	}
	switch e.text[at] {
	case '{':
		return e.members(p, at, path)
	case '[':
		return e.items(p, at, path)
	}
	return ""
}

// choice looks at anyOf and oneOf: where no branch can be met, the place is wrong.
func (e explainer) choice(p *plan, at int, path string) string {
	lists := [][]*plan{p.anyOf}
	if p.rare != nil {
		lists = append(lists, p.rare.oneOf)
	}
	for _, branches := range lists {
		wrong := len(branches) > 0
		for _, b := range branches {
			wrong = wrong && e.refuses(b, at)
		}
		switch {
		case !wrong:
		case len(branches) == 1:
			return e.value(branches[0], at, path)
		default:
			return nameOf(path) + " fits none of the forms that the tool's schema allows there."
		}
	}
	return ""
}

func (e explainer) members(p *plan, at int, path string) string {
	there := map[int]bool{}
	said := ""
	for at = e.space(at + 1); e.text[at] != '}'; {
		name, colon := e.quoted(at)
		at = e.space(e.space(colon) + 1)
		m := e.member(p, name)
		if m.index > 0 {
			there[m.index] = true
		}
		if said == "" {
			said = e.memberSaid(p, m, at, within(path, name))
		}
		if e.stopped {
			return ""
		}
		if at = e.space(e.skip(at)); e.text[at] == ',' {
			at = e.space(at + 1)
		}
	}
	for _, name := range p.required {
		if e.spend(1); !there[p.members[name].index] {
			return nameOf(within(path, quoted{[]byte(name), true})) + " is missing."
		}
	}
	return said
}

// memberSaid explains one member; empty: it is not refused, or there is no sentence.
func (e explainer) memberSaid(p *plan, m member, at int, path string) string {
	sub := m.plan
	if !m.declared {
		if p.rare != nil && len(p.rare.patterns) > 0 {
			return ""
		}
		sub = p.others
	}
	switch {
	case sub == nil || !e.refuses(sub, at):
		return ""
	case sub.never && !m.declared:
		return nameOf(path) + " is not a parameter of this tool."
	}
	return e.value(sub, at, path)
}

func (e explainer) items(p *plan, at int, path string) string {
	said, n := "", 0
	for at = e.space(at + 1); e.text[at] != ']'; n++ {
		sub := p.items
		if p.rare != nil && n < len(p.rare.prefix) {
			sub = p.rare.prefix[n]
		}
		if said == "" && sub != nil && e.refuses(sub, at) {
			said = e.value(sub, at, fmt.Sprintf("%s[%d]", path, n))
		}
		if e.stopped {
			return ""
		}
		if at = e.space(e.skip(at)); e.text[at] == ',' {
			at = e.space(at + 1)
		}
	}
	switch {
	case n < p.minItems:
		return nameOf(path) + " must have at least " + countOf(p.minItems, "item") + "."
	case p.maxItems >= 0 && n > p.maxItems:
		return nameOf(path) + " must have at most " + countOf(p.maxItems, "item") + "."
	}
	return said
}

// scalar looks at the rules that need no look inside the value.
func (e explainer) scalar(p *plan, at int, path string) string {
	kind := kindAt(e.text[at])
	if kind&isNumber == 0 && !p.takes(kind) {
		return nameOf(path) + " must be " + article(p.typeNames) + "."
	}
	var n float64
	if kind&isNumber != 0 {
		end := e.skip(at)
		if !e.afford(workDigit * (end - at)) {
			return ""
		}
		var err error
		if n, err = judged(e.text[at:end]); err != nil {
			return "The arguments hold a number that is too large to be checked."
		}
		if p.kinds != 0 && p.kinds&isNumber == 0 && (p.kinds&isInteger == 0 || n != math.Trunc(n)) {
			return nameOf(path) + " must be " + article(p.typeNames) + "."
		}
	}
	if p.enum != nil && e.oneOfValues(p.enum, at) == refused {
		if p.single {
			return nameOf(path) + " must be " + p.shown + "."
		}
		return nameOf(path) + " must be one of " + p.shown + "."
	}
	switch {
	case kind == isString:
		return e.textSaid(p, at, path)
	case kind&isNumber != 0:
		return numberSaid(p, n, path)
	}
	return ""
}

func (e explainer) textSaid(p *plan, at int, path string) string {
	text, _ := e.quoted(at)
	if p.minText > 0 || p.maxText >= 0 {
		switch n := e.characters(text); {
		case n < p.minText:
			return nameOf(path) + " must have at least " + countOf(p.minText, "character") + "."
		case p.maxText >= 0 && n > p.maxText:
			return nameOf(path) + " must have at most " + countOf(p.maxText, "character") + "."
		}
	}
	if p.pattern != nil && e.matches(p.pattern, text) == refused {
		return nameOf(path) + " does not have the form that the tool's schema asks for."
	}
	return ""
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func numberSaid(p *plan, v float64, path string) string {
	say := func(what string, bound float64) string {
		return nameOf(path) + " must be " + what + " " + strconv.FormatFloat(bound, 'f', -1, 64) + "."
	}
	switch {
	case p.low != nil && v < *p.low:
		return say("at least", *p.low)
	case p.high != nil && v > *p.high:
		return say("at most", *p.high)
	case p.above != nil && v <= *p.above:
		return say("more than", *p.above)
	case p.below != nil && v >= *p.below:
		return say("less than", *p.below)
	}
	return ""
}

func article(types []string) string {
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = map[string]string{
			"array": "an array", "boolean": "true or false", "integer": "an integer", "null": "null",
			"number": "a number", "object": "an object", "string": "a string",
		}[t]
	}
	return strings.Join(words, " or ")
}

// longestPath bounds the path to a place among the arguments, in bytes.
const longestPath = 200

func within(path string, name quoted) string {
	if len(path) > longestPath {
		return path
	}
	var text []byte
	for at := 0; at < len(name.raw) && len(text) <= longestPath; {
		c, size := name.rune(at)
		text = utf8.AppendRune(text, c)
		at += size
	}
	if path == "" {
		return string(text)
	}
	return path + "." + string(text)
}

// nameOf names a place among the arguments.
func nameOf(path string) string {
	if path == "" {
		return "The object of arguments"
	}
	if len(path) > longestPath {
		path = path[:longestPath] + "…"
	}
	return fmt.Sprintf("The argument %q", path)
}
