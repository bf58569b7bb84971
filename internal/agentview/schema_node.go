package agentview

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"patchbay/internal/mcp/toolfmt"
)

// schemaNode is one schema during compilation.
type schemaNode struct {
	*schemaCompiler
	*plan
	path    *schemaPath
	offsets keywordOffsets
}

func (n *schemaNode) hasKeyword(word keyword) bool { return n.offsets.has(word) }

// readKeywords finds the keywords of the schema at pos. The last of two members with one name counts.
func (n *schemaNode) readKeywords(pos int) bool {
	all := n.eachMember(pos, func(name jsonString, _, value int) bool {
		if word, known := keywordsByName[string(n.schemaCompiler.unescapeString(name))]; known {
			n.offsets[word] = value
		}
		return true
	})
	if !all {
		n.plan.uncheckedTypes = typeAny
		n.addUnchecked(n.path, UncheckedSize)
	}
	return all
}

// markUnchecked reports a keyword that is left out. Values of these types are undecided.
func (n *schemaNode) markUnchecked(word keyword, kinds typeSet, reason string) {
	n.plan.uncheckedTypes |= kinds
	n.addUnchecked(n.path.childPath(keywordNames[word]), reason)
}

func (n *schemaNode) ensureRare() *rareKeywords {
	if n.rare == nil {
		n.rare = &rareKeywords{maxContains: -1, maxProperties: -1}
	}
	return n.rare
}

func (n *schemaNode) rawValue(word keyword) []byte {
	return n.text[n.offsets[word]:n.skipValue(n.offsets[word])]
}

// resolveReference returns the plan of the target of $ref.
func (n *schemaNode) resolveReference() *plan {
	raw := n.rawValue(kwRef)
	if len(raw) > maxRefBytes {
		n.addUnchecked(n.path.childPath("$ref"), UncheckedReference)
		return uncheckedPlan
	}
	var ref string
	if json.Unmarshal(raw, &ref) != nil {
		n.addUnchecked(n.path.childPath("$ref"), UncheckedKeyword)
		return uncheckedPlan
	}
	if known, made := n.refs[ref]; made && !n.isForeign {
		return known
	}
	pos, found := n.findTarget(ref)
	if !found || n.isForeign {
		n.addUnchecked(n.path.childPath("$ref"), UncheckedReference)
		return uncheckedPlan
	}
	target := n.schemaCompiler.compileAt(pos, &schemaPath{refTarget, ref})
	n.refs[ref] = target
	return target
}

const workStep = 150 // to follow a step of a JSON pointer

var pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")

// pointerNames returns the names of a JSON pointer in a URI fragment (RFC 6901 section 6); none for the whole
// document or another kind of fragment.
func pointerNames(ref string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fragment, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
		if err != nil || !strings.HasPrefix(fragment, "/") {
			return
		}
		for name := range strings.SplitSeq(fragment[1:], "/") {
			if !yield(pointerUnescaper.Replace(name)) {
				return
			}
		}
	}
}

// findTarget resolves "#" or a JSON pointer within the document.
func (n *schemaNode) findTarget(ref string) (pos int, found bool) {
	if ref == "#" {
		return 0, true
	}
	if !strings.HasPrefix(ref, "#/") && !strings.HasPrefix(ref, "#%2F") && !strings.HasPrefix(ref, "#%2f") {
		return 0, false // an anchor, or another document
	}
	for name := range pointerNames(ref) {
		if !n.spendWork(workStep) {
			return 0, false
		}
		switch n.text[pos] {
		case '{':
			members := n.indexMembers(pos)
			if _, another := members["$id"]; another && pos != 0 {
				return 0, false
			}
			if pos, found = members[name]; !found {
				return 0, false
			}
		case '[':
			if pos, found = n.itemAt(pos, name); !found {
				return 0, false
			}
		default:
			return 0, false
		}
	}
	return pos, n.text[pos] == '{' || n.text[pos] == 't' || n.text[pos] == 'f'
}

func (n *schemaNode) itemAt(pos int, name string) (itemAt int, found bool) {
	want, err := strconv.Atoi(name)
	if err != nil || want < 0 {
		return 0, false
	}
	i := 0
	n.eachItem(pos, func(pos int) bool {
		itemAt, found = pos, i == want
		i++
		return !found
	})
	return itemAt, found
}

func (n *schemaNode) compileScalars() {
	n.compileTypes()
	for _, bound := range []struct {
		word keyword
		to   **float64
	}{
		{kwMinimum, &n.minimum}, {kwMaximum, &n.maximum}, {kwExclusiveMinimum, &n.exclusiveMinimum}, {kwExclusiveMaximum, &n.exclusiveMaximum},
	} {
		*bound.to = n.readNumber(bound.word)
	}
	if of := n.readNumber(kwMultipleOf); of != nil && *of > 0 {
		n.ensureRare().multipleOf = *of
	} else if of != nil {
		n.markUnchecked(kwMultipleOf, typeNumber|typeInteger, UncheckedKeyword)
	}
	n.minLength, n.maxLength = n.readCount(kwMinLength, 0, typeString), n.readCount(kwMaxLength, -1, typeString)
	if n.hasKeyword(kwPattern) {
		var expression string
		if json.Unmarshal(n.rawValue(kwPattern), &expression) != nil {
			n.markUnchecked(kwPattern, typeString, UncheckedKeyword)
		} else if expression != "" {
			n.plan.pattern = n.schemaCompiler.compilePattern(expression, n.path.childPath("pattern"))
		}
	}
	if n.hasKeyword(kwEnum) {
		n.enum = n.compileEnum(kwEnum)
	}
	if n.hasKeyword(kwConst) {
		if one := n.compileEnum(kwConst); n.enum == nil {
			n.enum = one
		} else {
			n.ensureRare().constant = one
		}
	}
}

func (n *schemaNode) compileTypes() {
	if !n.hasKeyword(kwType) {
		return
	}
	var names []string
	raw := n.rawValue(kwType)
	if raw[0] == '"' {
		raw = bytes.Join([][]byte{{'['}, raw, {']'}}, nil)
	}
	if len(raw) > maxTypesBytes || json.Unmarshal(raw, &names) != nil || len(names) == 0 {
		n.markUnchecked(kwType, typeAny, UncheckedKeyword)
		return
	}
	for _, name := range names {
		if typesByName[name] == 0 {
			n.markUnchecked(kwType, typeAny, UncheckedKeyword)
			n.types = 0
			return
		}
		n.types |= typesByName[name]
	}
	n.typeNames = names
}

// readNumber returns the value of a number keyword; nil if absent or invalid.
func (n *schemaNode) readNumber(word keyword) *float64 {
	if !n.hasKeyword(word) {
		return nil
	}
	raw := n.rawValue(word)
	if !n.reserveWork(workDigit * len(raw)) {
		n.markUnchecked(word, typeAny, UncheckedSize)
		return nil
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || typeAt(raw[0])&typeNumber == 0 {
		n.markUnchecked(word, typeNumber|typeInteger, UncheckedKeyword)
		return nil
	}
	return &v
}

// readCount returns the value of a keyword that is a natural number.
func (n *schemaNode) readCount(word keyword, absent int, kind typeSet) int {
	if !n.hasKeyword(word) {
		return absent
	}
	raw := n.rawValue(word)
	if !n.reserveWork(workDigit * len(raw)) {
		n.markUnchecked(word, kind, UncheckedSize)
		return absent
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || typeAt(raw[0])&typeNumber == 0 || v != math.Trunc(v) || v < 0 || v > math.MaxInt32 {
		n.markUnchecked(word, kind, UncheckedKeyword)
		return absent
	}
	return int(v)
}

// compilePattern compiles a regular expression, unless its program would be too large.
func (c *schemaCompiler) compilePattern(expression string, where *schemaPath) *pattern {
	parsed, err := c.patterns.Parse(expression)
	if err != nil {
		reason := UncheckedSyntax
		if errors.Is(err, toolfmt.ErrPatternTooLarge) {
			reason = UncheckedPattern
		}
		c.addUnchecked(where, reason)
		return &pattern{}
	}
	steps, runes := programSize(parsed)+4, programRunes(parsed)
	if steps > maxPatternInstructions || c.patternInstructions+steps > maxSchemaInstructions || c.patternRunes+runes > maxSchemaRunes {
		c.addUnchecked(where, UncheckedPattern)
		return &pattern{}
	}
	c.patternInstructions, c.patternRunes = c.patternInstructions+steps, c.patternRunes+runes
	c.memoryBytes += steps*patternBytes + runes*runeBytes + len(expression)
	form, err := regexp.Compile(expression)
	if err != nil {
		c.addUnchecked(where, UncheckedSyntax)
		return &pattern{}
	}
	return &pattern{regexp: form, instructions: steps}
}
