package agentview

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// explainer finds out why a value is invalid, within the validator's remaining budget.
type explainer struct{ *validator }

// explanation is the reason why a value is invalid; the zero value: none was found. The path is built from the
// inside, once there is a reason, as a value may have any number of valid parts.
type explanation struct {
	sentence func(path string) string
	steps    []pathStep
}

// pathStep is the name of a property, or the index of an item.
type pathStep struct {
	name  jsonString
	index int // -1: a property
}

func newExplanation(sentence func(path string) string) explanation {
	return explanation{sentence: sentence}
}

// addStep returns the explanation for the value that contains the explained one at this step.
func (x explanation) addStep(step pathStep) explanation {
	if x.sentence != nil {
		x.steps = append(x.steps, step)
	}
	return x
}

// String returns the sentence; empty if no reason was found.
func (x explanation) String() string {
	if x.sentence == nil {
		return ""
	}
	path := ""
	for _, step := range slices.Backward(x.steps) {
		if step.index < 0 {
			path = joinPath(path, step.name)
		} else if len(path) <= maxPathBytes {
			path += "[" + strconv.Itoa(step.index) + "]"
		}
	}
	return x.sentence(path)
}

// explainInvalid returns one sentence that names the path and quotes nothing of the value; empty if it finds no
// reason.
func (r *validator) explainInvalid(p *plan) string {
	found := explainer{r}.explainValue(p, r.root)
	if r.stopped {
		return ""
	}
	return found.String()
}

func (e explainer) isRejected(p *plan, pos int) bool {
	_, v := e.validator.validateValue(p, pos, nil)
	return v == invalid && !e.stopped
}

// explainValue describes the first violated keyword.
func (e explainer) explainValue(p *plan, pos int) explanation {
	if e.depth == maxDepth {
		return explanation{}
	}
	e.depth++
	defer func() { e.depth-- }()
	if found := e.explainScalar(p, pos); found.sentence != nil {
		return found
	}
	for _, sub := range p.allOf {
		if e.isRejected(sub, pos) {
			return e.explainValue(sub, pos)
		}
	}
	if found := e.explainAlternatives(p, pos); found.sentence != nil {
		return found
	}
	switch e.text[pos] {
	case '{':
		return e.explainObject(p, pos)
	case '[':
		return e.explainArray(p, pos)
	}
	return explanation{}
}

// explainAlternatives handles anyOf and oneOf without a matching branch.
func (e explainer) explainAlternatives(p *plan, pos int) explanation {
	lists := [2][]*plan{p.anyOf}
	if p.rare != nil {
		lists[1] = p.rare.oneOf
	}
	for _, branches := range lists {
		wrong := len(branches) > 0
		for _, b := range branches {
			wrong = wrong && e.isRejected(b, pos)
		}
		switch {
		case !wrong:
		case len(branches) == 1:
			return e.explainValue(branches[0], pos)
		default:
			return newExplanation(func(path string) string {
				return describePath(path) + " matches none of the forms in the tool's schema."
			})
		}
	}
	return explanation{}
}

func (e explainer) explainObject(p *plan, pos int) (found explanation) {
	var present []uint64 // bits of the properties with an index
	if len(p.required) > 0 {
		present = make([]uint64, p.trackedCount/64+1)
		e.spendWork(8 * len(present))
	}
	for pos = e.skipSpace(pos + 1); e.text[pos] != '}'; {
		name, colon := e.readString(pos)
		pos = e.skipSpace(e.skipSpace(colon) + 1)
		m := e.findProperty(p, name)
		if present != nil && m.index > 0 {
			present[m.index/64] |= 1 << (m.index % 64)
		}
		if found.sentence == nil {
			found = e.explainProperty(p, m, pos).addStep(pathStep{name, -1})
		}
		if e.stopped {
			return explanation{}
		}
		if pos = e.skipSpace(e.skipValue(pos)); e.text[pos] == ',' {
			pos = e.skipSpace(pos + 1)
		}
	}
	for _, name := range p.required {
		index := p.properties[name].index
		if e.spendWork(1); present[index/64]&(1<<(index%64)) == 0 {
			return newExplanation(func(path string) string { return describePath(path) + " is missing." }).addStep(pathStep{jsonString{[]byte(name), true}, -1})
		}
	}
	return found
}

// explainProperty describes one property.
func (e explainer) explainProperty(p *plan, m propertyPlan, pos int) explanation {
	sub := m.plan
	if !m.inProperties {
		if p.rare != nil && len(p.rare.patternProperties) > 0 {
			return explanation{}
		}
		sub = p.additionalProperties
	}
	switch {
	case sub == nil || !e.isRejected(sub, pos):
		return explanation{}
	case sub.rejectsAll && !m.inProperties:
		return newExplanation(func(path string) string { return describePath(path) + " isn't a parameter of this tool." })
	}
	return e.explainValue(sub, pos)
}

func (e explainer) explainArray(p *plan, pos int) (found explanation) {
	n := 0
	for pos = e.skipSpace(pos + 1); e.text[pos] != ']'; n++ {
		sub := p.items
		if p.rare != nil && n < len(p.rare.prefixItems) {
			sub = p.rare.prefixItems[n]
		}
		if found.sentence == nil && sub != nil && e.isRejected(sub, pos) {
			found = e.explainValue(sub, pos).addStep(pathStep{index: n})
		}
		if e.stopped {
			return explanation{}
		}
		if pos = e.skipSpace(e.skipValue(pos)); e.text[pos] == ',' {
			pos = e.skipSpace(pos + 1)
		}
	}
	switch {
	case n < p.minItems:
		return newExplanation(func(path string) string {
			return describePath(path) + " must have at least " + formatCount(p.minItems, "item") + "."
		})
	case p.maxItems >= 0 && n > p.maxItems:
		return newExplanation(func(path string) string {
			return describePath(path) + " must have at most " + formatCount(p.maxItems, "item") + "."
		})
	}
	return found
}

// explainScalar checks the keywords that do not look inside arrays and objects.
func (e explainer) explainScalar(p *plan, pos int) explanation {
	kind := typeAt(e.text[pos])
	if kind&typeNumber == 0 && !p.allowsType(kind) {
		return newExplanation(func(path string) string { return describePath(path) + " must be " + formatTypes(p.typeNames) + "." })
	}
	var n float64
	if kind&typeNumber != 0 {
		end := e.skipValue(pos)
		if !e.reserveWork(workDigit * (end - pos)) {
			return explanation{}
		}
		var err error
		if n, err = parseNumber(e.text[pos:end]); err != nil {
			return newExplanation(func(string) string { return "The arguments hold a number too large to check." })
		}
		if p.types != 0 && p.types&typeNumber == 0 && (p.types&typeInteger == 0 || n != math.Trunc(n)) {
			return newExplanation(func(path string) string { return describePath(path) + " must be " + formatTypes(p.typeNames) + "." })
		}
	}
	if p.enum != nil && e.validateEnum(p.enum, pos) == invalid {
		if p.isConst {
			return newExplanation(func(path string) string { return describePath(path) + " must be " + p.enumText + "." })
		}
		return newExplanation(func(path string) string { return describePath(path) + " must be one of " + p.enumText + "." })
	}
	switch {
	case kind == typeString:
		return e.explainString(p, pos)
	case kind&typeNumber != 0:
		return explainNumber(p, n)
	}
	return explanation{}
}

func (e explainer) explainString(p *plan, pos int) explanation {
	text, _ := e.readString(pos)
	if p.minLength > 0 || p.maxLength >= 0 {
		switch n := e.countRunes(text); {
		case n < p.minLength:
			return newExplanation(func(path string) string {
				return describePath(path) + " must have at least " + formatCount(p.minLength, "character") + "."
			})
		case p.maxLength >= 0 && n > p.maxLength:
			return newExplanation(func(path string) string {
				return describePath(path) + " must have at most " + formatCount(p.maxLength, "character") + "."
			})
		}
	}
	if p.pattern != nil && e.matchPattern(p.pattern, text) == invalid {
		return newExplanation(func(path string) string {
			return describePath(path) + " doesn't match the form in the tool's schema."
		})
	}
	return explanation{}
}

func formatCount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func explainNumber(p *plan, v float64) explanation {
	compare := func(what string, bound float64) explanation {
		return newExplanation(func(path string) string {
			return describePath(path) + " must be " + what + " " + strconv.FormatFloat(bound, 'f', -1, 64) + "."
		})
	}
	switch {
	case p.minimum != nil && v < *p.minimum:
		return compare("at least", *p.minimum)
	case p.maximum != nil && v > *p.maximum:
		return compare("at most", *p.maximum)
	case p.exclusiveMinimum != nil && v <= *p.exclusiveMinimum:
		return compare("more than", *p.exclusiveMinimum)
	case p.exclusiveMaximum != nil && v >= *p.exclusiveMaximum:
		return compare("less than", *p.exclusiveMaximum)
	}
	return explanation{}
}

func formatTypes(types []string) string {
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = map[string]string{
			"array": "an array", "boolean": "true or false", "integer": "an integer", "null": "null",
			"number": "a number", "object": "an object", "string": "a string",
		}[t]
	}
	return strings.Join(words, " or ")
}

const maxPathBytes = 200

func joinPath(path string, name jsonString) string {
	if len(path) > maxPathBytes {
		return path
	}
	var text []byte
	for pos := 0; pos < len(name.raw) && len(text) <= maxPathBytes; {
		c, size := name.decodeRune(pos)
		text = utf8.AppendRune(text, c)
		pos += size
	}
	if path == "" {
		return string(text)
	}
	return path + "." + string(text)
}

func describePath(path string) string {
	if path == "" {
		return "The object of arguments"
	}
	if len(path) > maxPathBytes {
		path = path[:maxPathBytes] + "…"
	}
	return fmt.Sprintf("The argument %q", path)
}
