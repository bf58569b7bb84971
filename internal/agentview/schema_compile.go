package agentview

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"patchbay/internal/mcp/toolfmt"
)

// Bounds of one compiled schema.
const (
	maxSchemaBytes  = 1 << 20
	maxSchemaMemory = 5 << 20 // bytes of the result, estimated
	maxSchemas      = 8_000   // subschemas
	maxEntries      = 50_000  // names and values in lookup tables
	maxEntryBytes   = 64 << 10
	maxNesting      = 600 // depth of subschemas
	maxUnchecked    = 20  // reported parts
	maxTypesBytes   = 4 << 10
	maxRefBytes     = 4 << 10 // of a $ref
)

// UncheckedPart is a part of a schema that arguments are not checked against.
type UncheckedPart struct {
	Pointer string // a JSON pointer (RFC 6901) into the schema
	Reason  string // one of the Unchecked codes
}

// Why a part of a schema is unchecked.
const (
	UncheckedPattern     = "pattern_too_large"     // a regular expression is too expensive
	UncheckedSyntax      = "pattern_not_supported" // a regular expression that RE2 does not support
	UncheckedReference   = "reference_not_followed"
	UncheckedCycle       = "reference_endless" // the reference applies to its own value again
	UncheckedDialect     = "dialect_not_supported"
	UncheckedKeyword     = "keyword_not_valid"
	UncheckedSize        = "schema_too_large"
	UncheckedCombination = "arguments_too_large" // large or deeply nested arguments may be too expensive
)

// schemaCompiler compiles a schema's text to a plan. Work, memory and depth are bounded; parts beyond a bound
// are left out and reported.
type schemaCompiler struct {
	validator      // reads the schema's text
	isDraft7       bool
	hasUnevaluated bool // unevaluatedItems or unevaluatedProperties is present
	uniqueNames    bool // see [plan.needsUniqueNames]

	plans               map[int]*plan // by the schema's offset
	planOrder           []*plan       // in order of compilation
	planPaths           map[*plan]*schemaPath
	refs                map[string]*plan       // by the text of $ref
	memberIndexes       map[int]map[string]int // offsets of members, for objects on a reference's path
	entryCount          int
	patternInstructions int // of all patterns
	patternRunes        int // character class bounds of all patterns
	patterns            toolfmt.PatternParser
	memoryBytes         int  // estimated
	isForeign           bool // below another $id, references are relative to that document
	unchecked           []UncheckedPart
	sizeReported        bool // UncheckedSize is reported once
}

// schemaPath is the location of a schema in its document.
type schemaPath struct {
	parent *schemaPath
	name   string // below refTarget the text of a $ref, which is parsed if it is reported
}

// refTarget is the parent of the target of a reference.
var refTarget = &schemaPath{}

func (p *schemaPath) childPath(names ...string) *schemaPath {
	for _, name := range names {
		p = &schemaPath{p, name}
	}
	return p
}

var pointerEscapes = map[byte]string{'~': "~0", '/': "~1"}

// String returns the JSON pointer, shortened to 200 bytes.
func (p *schemaPath) String() string {
	const maxPointerBytes = 200
	var names []string
	for ; p != nil; p = p.parent {
		if p.parent == refTarget {
			steps := slices.Collect(pointerNames(p.name))
			slices.Reverse(steps)
			names = append(names, steps...)
			break
		}
		names = append(names, p.name)
	}
	var b []byte
	for _, name := range slices.Backward(names) {
		b = append(b, '/')
		for i := range len(name) {
			if escape, special := pointerEscapes[name[i]]; special {
				b = append(b, escape...)
			} else {
				b = append(b, name[i])
			}
		}
		if len(b) > maxPointerBytes {
			return string(bytes.ToValidUTF8(b[:maxPointerBytes], nil)) + "…"
		}
	}
	return string(b)
}

func compileSchema(raw json.RawMessage) *compiledSchema {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0:
		return &compiledSchema{}
	case len(raw) > maxSchemaBytes:
		return &compiledSchema{unchecked: []UncheckedPart{{Reason: UncheckedSize}}}
	case !json.Valid(raw):
		return &compiledSchema{unchecked: []UncheckedPart{{Reason: UncheckedKeyword}}}
	}
	c := &schemaCompiler{
		validator:      newValidator(context.Background(), raw),
		hasUnevaluated: bytes.Contains(raw, []byte("unevaluated")),
		plans:          map[int]*plan{}, planPaths: map[*plan]*schemaPath{}, refs: map[string]*plan{}, memberIndexes: map[int]map[string]int{},
	}
	if raw[0] == '{' {
		dialect, known := c.detectDialect()
		if !known {
			return &compiledSchema{unchecked: []UncheckedPart{{Pointer: "/$schema", Reason: UncheckedDialect}}}
		}
		c.isDraft7 = dialect
	}
	s := &compiledSchema{plan: c.compileAt(0, nil)}
	c.cutCycles()
	c.reportExpensive()
	s.needsUniqueNames, s.unchecked, s.bytes = c.uniqueNames, c.unchecked, int64(c.memoryBytes+schemaBytes)
	s.compileWork = c.validator.work + c.patterns.Work() + c.patternInstructions*workCompile
	return s
}

// detectDialect reads $schema and reports whether the dialect is supported.
func (c *schemaCompiler) detectDialect() (draft7, known bool) {
	pos, found := c.indexMembers(0)["$schema"]
	if !found {
		return false, true
	}
	var name string
	if json.Unmarshal(c.text[pos:c.skipValue(pos)], &name) != nil {
		return false, false
	}
	switch name {
	case "", "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2020-12/schema#":
		return false, true
	case "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema#",
		"http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema":
		return true, true
	}
	return false, false
}

// addUnchecked reports a part that is left out.
func (c *schemaCompiler) addUnchecked(where *schemaPath, reason string) {
	if reason == UncheckedSize {
		if c.sizeReported {
			return
		}
		c.sizeReported = true
	}
	if len(c.unchecked) < maxUnchecked {
		c.unchecked = append(c.unchecked, UncheckedPart{where.String(), reason})
	}
}

// uncheckedPlan stands for a schema that is left out.
var uncheckedPlan = &plan{uncheckedTypes: typeAny, maxLength: -1, maxItems: -1}

// Estimates of memory, in bytes.
const (
	schemaBytes = 500
	planBytes   = 350
	rareBytes   = 350
	entryBytes  = 60
)

// compileAt compiles the schema at pos; nil accepts everything.
func (c *schemaCompiler) compileAt(pos int, where *schemaPath) *plan {
	switch c.text[pos] {
	case 't':
		return nil
	case 'f':
		return &plan{rejectsAll: true}
	case '{':
	default:
		c.addUnchecked(where, UncheckedKeyword)
		return uncheckedPlan
	}
	if known, made := c.plans[pos]; made {
		return known
	}
	if len(c.plans) == maxSchemas || c.memoryBytes > maxSchemaMemory || c.depth == maxNesting || c.stopped {
		c.addUnchecked(where, UncheckedSize)
		return uncheckedPlan
	}
	out := &plan{maxLength: -1, maxItems: -1}
	c.plans[pos], c.planPaths[out] = out, where // before its parts, because a schema may be recursive
	c.planOrder = append(c.planOrder, out)
	c.memoryBytes += planBytes
	c.depth++
	c.compileKeywords(&schemaNode{schemaCompiler: c, plan: out, path: where}, pos)
	c.depth--
	return out
}

func (c *schemaCompiler) compileKeywords(n *schemaNode, pos int) {
	if !n.readKeywords(pos) {
		return
	}
	outer := c.isForeign
	c.isForeign = outer || pos != 0 && n.hasKeyword(kwID) // its references are relative to another document
	defer func() { c.isForeign = outer }()
	if n.hasKeyword(kwRef) {
		n.plan.allOf = append(n.plan.allOf, n.resolveReference())
		if c.isDraft7 {
			return // draft-07 ignores keywords beside $ref
		}
	}
	if n.hasKeyword(kwDynamicRef) || n.hasKeyword(kwRecursiveRef) {
		n.plan.uncheckedTypes = typeAny
		c.addUnchecked(n.path, UncheckedReference)
	}
	n.compileScalars()
	n.compileArrayKeywords()
	n.compileObjectKeywords()
	n.compileCombinators()
	if n.rare != nil {
		c.memoryBytes += rareBytes
		n.rare.hasAdditionalProperties = n.hasKeyword(kwAdditionalProperties)
	}
	c.uniqueNames = c.uniqueNames || n.needsUniqueNames()
}

// addEntry counts an entry of a lookup table and reports whether the bounds allow it.
func (c *schemaCompiler) addEntry(size int) bool {
	if c.entryCount == maxEntries || c.memoryBytes > maxSchemaMemory || size > maxEntryBytes {
		return false
	}
	c.entryCount++
	c.memoryBytes += entryBytes + size
	return true
}

// indexMembers returns the offsets of an object's members, computed once per object.
func (c *schemaCompiler) indexMembers(pos int) map[string]int {
	if known, made := c.memberIndexes[pos]; made {
		return known
	}
	all := map[string]int{}
	c.memberIndexes[pos] = all
	c.eachMember(pos, func(name jsonString, _, value int) bool {
		if !c.addEntry(0) {
			return false
		}
		all[string(c.unescapeString(name))] = value
		return true
	})
	return all
}

// eachMember calls yield for each member of an object and reports whether it reached the end.
func (c *schemaCompiler) eachMember(pos int, yield func(name jsonString, key, value int) bool) bool {
	for pos = c.skipSpace(pos + 1); c.text[pos] != '}'; {
		key := pos
		name, colon := c.readString(pos)
		value := c.skipSpace(c.skipSpace(colon) + 1)
		if !yield(name, key, value) || !c.spendWork(workNode) {
			return false
		}
		if pos = c.skipSpace(c.skipValue(value)); c.text[pos] == ',' {
			pos = c.skipSpace(pos + 1)
		}
	}
	return true
}

// eachItem calls yield for each item of an array and reports whether it reached the end.
func (c *schemaCompiler) eachItem(pos int, yield func(item int) bool) bool {
	for pos = c.skipSpace(pos + 1); c.text[pos] != ']'; {
		if !yield(pos) || !c.spendWork(workNode) {
			return false
		}
		if pos = c.skipSpace(c.skipValue(pos)); c.text[pos] == ',' {
			pos = c.skipSpace(pos + 1)
		}
	}
	return true
}
