package access

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

// node is one schema while it is compiled.
type node struct {
	*compiler
	*plan
	where *place
	at    keywords
}

func (n *node) has(word keyword) bool { return n.at.has(word) }

// read finds the keywords of the schema at a place. Of two members of one name the last counts.
func (n *node) read(at int) bool {
	all := n.eachMember(at, func(name quoted, _, value int) bool {
		if word, known := keywordsByName[string(n.compiler.unescaped(name))]; known {
			n.at[word] = value
		}
		return true
	})
	if !all {
		n.plan.unjudged = isAny
		n.leave(n.where, UncheckedSize)
	}
	return all
}

// leaveOut names a keyword that is left out, and the kinds of values on which the verdict is undecided.
func (n *node) leaveOut(word keyword, kinds kindSet, reason string) {
	n.plan.unjudged |= kinds
	n.leave(n.where.within(keywordNames[word]), reason)
}

// odd is where rare keywords are kept.
func (n *node) odd() *rare {
	if n.rare == nil {
		n.rare = &rare{maxContains: -1, maxMembers: -1}
	}
	return n.rare
}

// raw is the text of a keyword's value.
func (n *node) raw(word keyword) []byte {
	return n.text[n.at[word]:n.skip(n.at[word])]
}

// reference follows a $ref to the plan of its target.
func (n *node) reference() *plan {
	var ref string
	if json.Unmarshal(n.raw(kwRef), &ref) != nil {
		n.leave(n.where.within("$ref"), UncheckedKeyword)
		return unjudged
	}
	if known, made := n.refs[ref]; made && !n.foreign {
		return known
	}
	at, found := n.target(ref)
	if !found || n.foreign {
		n.leave(n.where.within("$ref"), UncheckedReference)
		return unjudged
	}
	target := n.compiler.schema(at, n.pointerPlace(ref))
	n.refs[ref] = target
	return target
}

func (n *node) pointerPlace(ref string) *place {
	var p *place
	for _, name := range pointerNames(ref) {
		p = p.within(name)
	}
	return p
}

var pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")

// pointerNames are the names of a JSON pointer in a fragment (RFC 6901 section 6); nil: it is the whole document, or none.
func pointerNames(ref string) []string {
	fragment, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	if err != nil || !strings.HasPrefix(fragment, "/") {
		return nil
	}
	names := strings.Split(fragment[1:], "/")
	for i, name := range names {
		names[i] = pointerUnescaper.Replace(name)
	}
	return names
}

// target finds what a reference within the document leads to: # or a JSON pointer.
func (n *node) target(ref string) (at int, found bool) {
	if ref == "#" {
		return 0, true
	}
	if !strings.HasPrefix(ref, "#/") && !strings.HasPrefix(ref, "#%2F") && !strings.HasPrefix(ref, "#%2f") {
		return 0, false // an anchor, or another document
	}
	for _, name := range pointerNames(ref) {
		switch n.text[at] {
		case '{':
			members := n.index(at)
			if _, another := members["$id"]; another && at != 0 {
				return 0, false
			}
			if at, found = members[name]; !found {
				return 0, false
			}
		case '[':
			if at, found = n.item(at, name); !found {
				return 0, false
			}
		default:
			return 0, false
		}
	}
	return at, n.text[at] == '{' || n.text[at] == 't' || n.text[at] == 'f'
}

func (n *node) item(at int, name string) (item int, found bool) {
	want, err := strconv.Atoi(name)
	if err != nil || want < 0 {
		return 0, false
	}
	i := 0
	n.eachItem(at, func(at int) bool {
		item, found = at, i == want
		i++
		return !found
	})
	return item, found
}

// scalars compiles what is said of the value itself.
func (n *node) scalars() {
	n.types()
	for _, bound := range []struct {
		word keyword
		to   **float64
	}{
		{kwMinimum, &n.low}, {kwMaximum, &n.high}, {kwExclusiveMinimum, &n.above}, {kwExclusiveMaximum, &n.below},
	} {
		*bound.to = n.number(bound.word)
	}
	if of := n.number(kwMultipleOf); of != nil && *of > 0 {
		n.odd().multipleOf = *of
	} else if of != nil {
		n.leaveOut(kwMultipleOf, isNumber|isInteger, UncheckedKeyword)
	}
	n.minText, n.maxText = n.count(kwMinLength, 0, isString), n.count(kwMaxLength, -1, isString)
	if n.has(kwPattern) {
		var expression string
		if json.Unmarshal(n.raw(kwPattern), &expression) != nil {
			n.leaveOut(kwPattern, isString, UncheckedKeyword)
		} else if expression != "" {
			n.plan.pattern = n.compiler.pattern(expression, n.where.within("pattern"))
		}
	}
	if n.has(kwEnum) {
		n.enum = n.values(kwEnum)
	}
	if n.has(kwConst) {
		if one := n.values(kwConst); n.enum == nil {
			n.enum = one
		} else {
			n.odd().constant = one
		}
	}
}

func (n *node) types() {
	if !n.has(kwType) {
		return
	}
	var names []string
	raw := n.raw(kwType)
	if raw[0] == '"' {
		raw = bytes.Join([][]byte{{'['}, raw, {']'}}, nil)
	}
	if len(raw) > maxPatternBytes || json.Unmarshal(raw, &names) != nil || len(names) == 0 {
		n.leaveOut(kwType, isAny, UncheckedKeyword)
		return
	}
	for _, name := range names {
		if kindNames[name] == 0 {
			n.leaveOut(kwType, isAny, UncheckedKeyword)
			n.kinds = 0
			return
		}
		n.kinds |= kindNames[name]
	}
	n.typeNames = names
}

// number reads a keyword whose value is a number; nil: there is none that can be used.
func (n *node) number(word keyword) *float64 {
	if !n.has(word) {
		return nil
	}
	raw := n.raw(word)
	if !n.afford(workDigit * len(raw)) {
		n.leaveOut(word, isAny, UncheckedSize)
		return nil
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || kindAt(raw[0])&isNumber == 0 {
		n.leaveOut(word, isNumber|isInteger, UncheckedKeyword)
		return nil
	}
	return &v
}

// count reads a keyword whose value is a natural number.
func (n *node) count(word keyword, absent int, kind kindSet) int {
	if !n.has(word) {
		return absent
	}
	raw := n.raw(word)
	if !n.afford(workDigit * len(raw)) {
		n.leaveOut(word, kind, UncheckedSize)
		return absent
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || kindAt(raw[0])&isNumber == 0 || v != math.Trunc(v) || v < 0 || v > math.MaxInt32 {
		n.leaveOut(word, kind, UncheckedKeyword)
		return absent
	}
	return int(v)
}

// pattern compiles a regular expression, unless its program would be too large.
func (c *compiler) pattern(expression string, where *place) *pattern {
	work := patternWork(expression)
	if len(expression) > maxPatternBytes || c.parsing+work > maxParseWork {
		c.leave(where, UncheckedPattern)
		return &pattern{}
	}
	c.parsing += work
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		reason := UncheckedSyntax
		if e, ok := errors.AsType[*syntax.Error](err); ok && e.Code == syntax.ErrLarge {
			reason = UncheckedPattern
		}
		c.leave(where, reason)
		return &pattern{}
	}
	steps, runes := programSize(parsed)+4, programRunes(parsed)
	if steps > maxPatternSteps || c.steps+steps > maxSchemaSteps || c.runes+runes > maxSchemaRunes {
		c.leave(where, UncheckedPattern)
		return &pattern{}
	}
	c.steps, c.runes = c.steps+steps, c.runes+runes
	c.bytes += steps*patternBytes + runes*runeBytes + len(expression)
	form, err := regexp.Compile(expression)
	if err != nil {
		c.leave(where, UncheckedSyntax)
		return &pattern{}
	}
	return &pattern{form: form, steps: steps}
}
