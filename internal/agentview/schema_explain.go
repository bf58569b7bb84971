package agentview

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// explainer finds out why a value is invalid, within the validator's remaining budget.
type explainer struct{ *validator }

// explainInvalid returns one sentence that names the path and quotes nothing of the value; empty if it finds no
// reason.
func (r *validator) explainInvalid(p *plan) string {
	message := explainer{r}.explainValue(p, r.root, "")
	if r.stopped {
		return ""
	}
	return message
}

func (e explainer) isRejected(p *plan, pos int) bool {
	_, v := e.validator.validateValue(p, pos, nil)
	return v == invalid && !e.stopped
}

// explainValue describes the first violated keyword; empty if there is no sentence for it.
func (e explainer) explainValue(p *plan, pos int, path string) string {
	if e.depth == maxDepth {
		return ""
	}
	e.depth++
	defer func() { e.depth-- }()
	if message := e.explainScalar(p, pos, path); message != "" {
		return message
	}
	for _, sub := range p.allOf {
		if e.isRejected(sub, pos) {
			return e.explainValue(sub, pos, path)
		}
	}
	if message := e.explainAlternatives(p, pos, path); message != "" {
		return message
	}
	switch e.text[pos] {
	case '{':
		return e.explainObject(p, pos, path)
	case '[':
		return e.explainArray(p, pos, path)
	}
	return ""
}

// explainAlternatives handles anyOf and oneOf without a matching branch.
func (e explainer) explainAlternatives(p *plan, pos int, path string) string {
	lists := [][]*plan{p.anyOf}
	if p.rare != nil {
		lists = append(lists, p.rare.oneOf)
	}
	for _, branches := range lists {
		wrong := len(branches) > 0
		for _, b := range branches {
			wrong = wrong && e.isRejected(b, pos)
		}
		switch {
		case !wrong:
		case len(branches) == 1:
			return e.explainValue(branches[0], pos, path)
		default:
			return describePath(path) + " fits none of the forms that the tool's schema allows there."
		}
	}
	return ""
}

func (e explainer) explainObject(p *plan, pos int, path string) string {
	present := map[int]bool{}
	message := ""
	for pos = e.skipSpace(pos + 1); e.text[pos] != '}'; {
		name, colon := e.readString(pos)
		pos = e.skipSpace(e.skipSpace(colon) + 1)
		m := e.findProperty(p, name)
		if m.index > 0 {
			present[m.index] = true
		}
		if message == "" {
			message = e.explainProperty(p, m, pos, joinPath(path, name))
		}
		if e.stopped {
			return ""
		}
		if pos = e.skipSpace(e.skipValue(pos)); e.text[pos] == ',' {
			pos = e.skipSpace(pos + 1)
		}
	}
	for _, name := range p.required {
		if e.spendWork(1); !present[p.properties[name].index] {
			return describePath(joinPath(path, jsonString{[]byte(name), true})) + " is missing."
		}
	}
	return message
}

// explainProperty describes one property; empty if it is valid, or there is no sentence.
func (e explainer) explainProperty(p *plan, m propertyPlan, pos int, path string) string {
	sub := m.plan
	if !m.inProperties {
		if p.rare != nil && len(p.rare.patternProperties) > 0 {
			return ""
		}
		sub = p.additionalProperties
	}
	switch {
	case sub == nil || !e.isRejected(sub, pos):
		return ""
	case sub.rejectsAll && !m.inProperties:
		return describePath(path) + " is not a parameter of this tool."
	}
	return e.explainValue(sub, pos, path)
}

func (e explainer) explainArray(p *plan, pos int, path string) string {
	message, n := "", 0
	for pos = e.skipSpace(pos + 1); e.text[pos] != ']'; n++ {
		sub := p.items
		if p.rare != nil && n < len(p.rare.prefixItems) {
			sub = p.rare.prefixItems[n]
		}
		if message == "" && sub != nil && e.isRejected(sub, pos) {
			message = e.explainValue(sub, pos, fmt.Sprintf("%s[%d]", path, n))
		}
		if e.stopped {
			return ""
		}
		if pos = e.skipSpace(e.skipValue(pos)); e.text[pos] == ',' {
			pos = e.skipSpace(pos + 1)
		}
	}
	switch {
	case n < p.minItems:
		return describePath(path) + " must have at least " + formatCount(p.minItems, "item") + "."
	case p.maxItems >= 0 && n > p.maxItems:
		return describePath(path) + " must have at most " + formatCount(p.maxItems, "item") + "."
	}
	return message
}

// explainScalar checks the keywords that do not look inside arrays and objects.
func (e explainer) explainScalar(p *plan, pos int, path string) string {
	kind := typeAt(e.text[pos])
	if kind&typeNumber == 0 && !p.allowsType(kind) {
		return describePath(path) + " must be " + formatTypes(p.typeNames) + "."
	}
	var n float64
	if kind&typeNumber != 0 {
		end := e.skipValue(pos)
		if !e.reserveWork(workDigit * (end - pos)) {
			return ""
		}
		var err error
		if n, err = parseNumber(e.text[pos:end]); err != nil {
			return "The arguments hold a number that is too large to be checked."
		}
		if p.types != 0 && p.types&typeNumber == 0 && (p.types&typeInteger == 0 || n != math.Trunc(n)) {
			return describePath(path) + " must be " + formatTypes(p.typeNames) + "."
		}
	}
	if p.enum != nil && e.validateEnum(p.enum, pos) == invalid {
		if p.isConst {
			return describePath(path) + " must be " + p.enumText + "."
		}
		return describePath(path) + " must be one of " + p.enumText + "."
	}
	switch {
	case kind == typeString:
		return e.explainString(p, pos, path)
	case kind&typeNumber != 0:
		return explainNumber(p, n, path)
	}
	return ""
}

func (e explainer) explainString(p *plan, pos int, path string) string {
	text, _ := e.readString(pos)
	if p.minLength > 0 || p.maxLength >= 0 {
		switch n := e.countRunes(text); {
		case n < p.minLength:
			return describePath(path) + " must have at least " + formatCount(p.minLength, "character") + "."
		case p.maxLength >= 0 && n > p.maxLength:
			return describePath(path) + " must have at most " + formatCount(p.maxLength, "character") + "."
		}
	}
	if p.pattern != nil && e.matchPattern(p.pattern, text) == invalid {
		return describePath(path) + " does not have the form that the tool's schema asks for."
	}
	return ""
}

func formatCount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func explainNumber(p *plan, v float64, path string) string {
	say := func(what string, bound float64) string {
		return describePath(path) + " must be " + what + " " + strconv.FormatFloat(bound, 'f', -1, 64) + "."
	}
	switch {
	case p.minimum != nil && v < *p.minimum:
		return say("at least", *p.minimum)
	case p.maximum != nil && v > *p.maximum:
		return say("at most", *p.maximum)
	case p.exclusiveMinimum != nil && v <= *p.exclusiveMinimum:
		return say("more than", *p.exclusiveMinimum)
	case p.exclusiveMaximum != nil && v >= *p.exclusiveMaximum:
		return say("less than", *p.exclusiveMaximum)
	}
	return ""
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
