package access

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
)

// Bounds of one compiled schema.
const (
	maxSchemaBytes = 1 << 20
	maxSchemas     = 8_000  // subschemas
	maxEntries     = 50_000 // names and values that are looked up
	maxEntryBytes  = 64 << 10
	maxNesting     = 600 // of schemas, while they are compiled
	maxUnchecked   = 20  // that are named
)

// Unchecked is a part of a schema that arguments are not held against.
type Unchecked struct {
	Place  string // a JSON pointer (RFC 6901) into the schema
	Reason string // one of the Unchecked codes
}

// Why a part of a schema is unchecked.
const (
	UncheckedPattern     = "pattern_too_large"     // a regular expression would cost too much
	UncheckedSyntax      = "pattern_not_supported" // a regular expression that Go does not know (RE2)
	UncheckedReference   = "reference_not_followed"
	UncheckedEndless     = "reference_endless" // it leads back to itself for the same value
	UncheckedDialect     = "dialect_not_supported"
	UncheckedKeyword     = "keyword_not_valid"
	UncheckedSize        = "schema_too_large"
	UncheckedCombination = "arguments_too_large" // large or deeply nested arguments may be too much work
)

// compiler makes a plan of the text of a schema. The work, the memory and the depth that it takes are bounded: what is beyond the bounds is
// left out and named.
type compiler struct {
	run       // over the text of the schema
	draft7    bool
	evaluates bool // unevaluatedItems or unevaluatedProperties stand somewhere
	distinct  bool // a plan must not see a name twice: see [plan.strict]

	plans    map[int]*plan          // by where the schema stands
	order    []*plan                // of compilation
	places   map[*plan]*place       // of each plan
	refs     map[string]*plan       // by their text
	indexes  map[int]map[string]int // where members stand, of objects that references lead through
	entries  int
	steps    int  // instructions of all patterns
	runes    int  // bounds of character classes in these instructions
	parsing  int  // units of work that parsing patterns took
	bytes    int  // of memory, about
	foreign  bool // references are relative to another document
	left     []Unchecked
	tooLarge bool // that is named already
}

// place is where a schema stands in the document.
type place struct {
	up   *place
	name string
}

func (p *place) within(names ...string) *place {
	for _, name := range names {
		p = &place{p, name}
	}
	return p
}

var pointerEscapes = map[byte]string{'~': "~0", '/': "~1"}

// String is the JSON pointer.
func (p *place) String() string {
	const longest = 200
	var names []string
	for ; p != nil; p = p.up {
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
		if len(b) > longest {
			return string(bytes.ToValidUTF8(b[:longest], nil)) + "…"
		}
	}
	return string(b)
}

// compile makes a schema of a text of JSON.
func compile(raw json.RawMessage) *schema {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0:
		return &schema{}
	case len(raw) > maxSchemaBytes:
		return &schema{unchecked: []Unchecked{{Reason: UncheckedSize}}}
	case !json.Valid(raw):
		return &schema{unchecked: []Unchecked{{Reason: UncheckedKeyword}}}
	}
	c := &compiler{
		run:       newRun(context.Background(), raw),
		evaluates: bytes.Contains(raw, []byte("unevaluated")),
		plans:     map[int]*plan{}, places: map[*plan]*place{}, refs: map[string]*plan{}, indexes: map[int]map[string]int{},
	}
	if raw[0] == '{' {
		dialect, known := c.dialect()
		if !known {
			return &schema{unchecked: []Unchecked{{Place: "/$schema", Reason: UncheckedDialect}}}
		}
		c.draft7 = dialect
	}
	s := &schema{plan: c.schema(0, nil)}
	c.cutEndless()
	c.weigh()
	s.strict, s.unchecked, s.bytes = c.distinct, c.left, int64(c.bytes+schemaBytes)
	s.work = c.run.work + c.parsing + c.steps*workCompile
	return s
}

// dialect reads $schema, and reports whether it is a dialect that plans are made of.
func (c *compiler) dialect() (draft7, known bool) {
	at, there := c.index(0)["$schema"]
	if !there {
		return false, true
	}
	var name string
	if json.Unmarshal(c.text[at:c.skip(at)], &name) != nil {
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

// leave names a part that is left out.
func (c *compiler) leave(where *place, reason string) {
	if reason == UncheckedSize {
		if c.tooLarge {
			return
		}
		c.tooLarge = true
	}
	if len(c.left) < maxUnchecked {
		c.left = append(c.left, Unchecked{where.String(), reason})
	}
}

// unjudged is the plan of a schema that is left out.
var unjudged = &plan{unjudged: isAny, maxText: -1, maxItems: -1}

// Estimates of memory, in bytes.
const (
	schemaBytes = 500
	planBytes   = 350
	rareBytes   = 350
	entryBytes  = 60
)

// schema compiles the schema at a place; nil: it accepts everything.
func (c *compiler) schema(at int, where *place) *plan {
	switch c.text[at] {
	case 't':
		return nil
	case 'f':
		return &plan{never: true}
	case '{':
	default:
		c.leave(where, UncheckedKeyword)
		return unjudged
	}
	if known, made := c.plans[at]; made {
		return known
	}
	if len(c.plans) == maxSchemas || c.depth == maxNesting || c.stopped {
		c.leave(where, UncheckedSize)
		return unjudged
	}
	out := &plan{maxText: -1, maxItems: -1}
	c.plans[at], c.places[out] = out, where // before its parts: a schema may lead back to itself
	c.order = append(c.order, out)
	c.bytes += planBytes
	c.depth++
	c.fill(&node{compiler: c, plan: out, where: where}, at)
	c.depth--
	return out
}

// fill compiles the keywords of one schema.
func (c *compiler) fill(n *node, at int) {
	if !n.read(at) {
		return
	}
	outer := c.foreign
	c.foreign = outer || at != 0 && n.has(kwID) // its references are relative to another document
	defer func() { c.foreign = outer }()
	if n.has(kwRef) {
		n.plan.all = append(n.plan.all, n.reference())
		if c.draft7 {
			return // draft-07 ignores what stands beside a reference
		}
	}
	if n.has(kwDynamicRef) || n.has(kwRecursiveRef) {
		n.plan.unjudged = isAny
		c.leave(n.where, UncheckedReference)
	}
	n.scalars()
	n.arrays()
	n.objects()
	n.combinations()
	if n.rare != nil {
		c.bytes += rareBytes
		n.rare.allMembers = n.has(kwAdditionalProperties)
	}
	c.distinct = c.distinct || n.strict()
}

// entry counts something that is looked up, and reports whether there is room for it.
func (c *compiler) entry(size int) bool {
	if c.entries == maxEntries || size > maxEntryBytes {
		return false
	}
	c.entries++
	c.bytes += entryBytes + size
	return true
}

// index is where the members of an object stand. It is made once for each object.
func (c *compiler) index(at int) map[string]int {
	if known, made := c.indexes[at]; made {
		return known
	}
	all := map[string]int{}
	c.indexes[at] = all
	c.eachMember(at, func(name quoted, _, value int) bool {
		if !c.entry(0) {
			return false
		}
		all[string(c.unescaped(name))] = value
		return true
	})
	return all
}

// eachMember visits the members of an object, and reports whether it saw all.
func (c *compiler) eachMember(at int, visit func(name quoted, key, value int) bool) bool {
	for at = c.space(at + 1); c.text[at] != '}'; {
		key := at
		name, colon := c.quoted(at)
		value := c.space(c.space(colon) + 1)
		if !visit(name, key, value) || !c.spend(workNode) {
			return false
		}
		if at = c.space(c.skip(value)); c.text[at] == ',' {
			at = c.space(at + 1)
		}
	}
	return true
}

// eachItem visits the items of an array, and reports whether it saw all.
func (c *compiler) eachItem(at int, visit func(item int) bool) bool {
	for at = c.space(at + 1); c.text[at] != ']'; {
		if !visit(at) || !c.spend(workNode) {
			return false
		}
		if at = c.space(c.skip(at)); c.text[at] == ',' {
			at = c.space(at + 1)
		}
	}
	return true
}
