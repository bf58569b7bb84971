package toolfmt

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// schemaWalker resolves the references of one schema document. It is bounded: references can unfold to any
// size.
type schemaWalker struct {
	root   *value
	budget int // bytes that may still be written, about
	steps  int // properties and keywords that may still be visited in combined schemas
	work   int // units that may still be spent

	patterns PatternParser
	targets  map[string]*value         // by the spelling of $ref
	indexes  map[*value]map[string]int // of wide objects on a reference's path
}

// Bounds of one tool's schema.
const (
	maxWritten = 256 << 10
	maxSteps   = 4_000
)

// costPerSchema is the size of a schema without its texts.
const costPerSchema = 32

func newSchemaWalker(root *value) *schemaWalker {
	return &schemaWalker{
		root: root, budget: maxWritten, steps: maxSteps, work: maxWork,
		targets: map[string]*value{}, indexes: map[*value]map[string]int{},
	}
}

// spendBytes takes from the budget and reports whether any is left.
func (w *schemaWalker) spendBytes(bytes int) bool {
	w.budget -= bytes
	return w.budget > 0
}

// Bounds of references.
const (
	maxRefHops  = 16      // of a chain
	maxRefBytes = 4 << 10 // of the text; a longer reference is dangling
)

// resolveRefs follows references within the document; keywords beside $ref count (JSON Schema 2020-12 section
// 8.2.3.1). trail are the enclosing references; cyclic: v leads back into one of them, or the work is spent. A
// dangling reference is ignored.
func (w *schemaWalker) resolveRefs(v *value, trail []*value) (target *value, longer []*value, cyclic bool) {
	for range maxRefHops {
		ref := v.getKind("$ref", '"')
		if ref == nil {
			return v, trail, false
		}
		if !w.spendWork(workRef + 16*len(trail) + workMember*(len(v.members)-1)) {
			break
		}
		to := w.findTarget(ref.raw)
		if to != nil && slices.Contains(trail, to) {
			return to, trail, true
		}
		beside := withoutMember(v, "$ref")
		if to == nil || to.kind != '{' {
			return beside, trail, false
		}
		trail = append(slices.Clip(trail), to)
		if v = to; len(beside.members) > 0 {
			if !w.spendWork(workMember * len(to.members)) {
				break
			}
			v = overlayMembers(to, beside)
		}
	}
	return newObject(), trail, true
}

// findTarget returns the value that a $ref in this spelling refers to, or nil.
func (w *schemaWalker) findTarget(raw []byte) *value {
	if len(raw) > maxRefBytes {
		return nil
	}
	to, known := w.targets[string(raw)]
	if !known && w.spendWork(workMember+10*len(raw)) {
		to = w.resolvePointer(unquoteString(raw))
		w.targets[string(raw)] = to
	}
	return to
}

var pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")

// resolvePointer returns the value at a JSON pointer (RFC 6901, as a URI fragment), or nil.
func (w *schemaWalker) resolvePointer(ref string) *value {
	fragment, local := strings.CutPrefix(ref, "#")
	if !local || fragment != "" && fragment[0] != '/' {
		return nil
	}
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	at := w.root
	if fragment == "" {
		return at
	}
	for step := range strings.SplitSeq(fragment[1:], "/") {
		if at = w.followStep(at, pointerUnescaper.Replace(step)); at == nil {
			return nil
		}
	}
	return at
}

// followStep returns the member or the item that a step of a pointer names; nil if there is none.
func (w *schemaWalker) followStep(v *value, name string) *value {
	switch v.kind {
	case '[':
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v.items) {
			return v.items[i]
		}
	case '{':
		index, known := w.indexes[v]
		if !known && len(v.members) > maxScanned && w.spendWork(workMember*len(v.members)) {
			index = v.memberIndex()
			w.indexes[v] = index
		}
		if at := v.findMember(name, index); at >= 0 {
			return v.members[at].value
		}
	}
	return nil
}

// flattenObject returns an object schema with the properties of all its parts and without references and
// combinations at the top. A property is required only if every alternative requires it.
func (w *schemaWalker) flattenObject(v *value) *value {
	p := w.collectParts(v, []*value{v}, true)
	out := p.rest
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		out.drop(name)
	}
	if len(p.properties) > 0 {
		out.set("properties", newObject(p.properties...))
	}
	if len(p.required) > 0 {
		out.set("required", newTexts(p.required))
	}
	return out
}

// objectParts is an object schema with the properties of all that it combines.
type objectParts struct {
	rest          *value // the schema itself, dereferenced
	properties    []objectMember
	required      []string
	propertyIndex map[string]int  // of properties
	isRequired    map[string]bool // the set of required
}

func newObjectParts(v *value) objectParts {
	p := objectParts{rest: cloneObject(v), propertyIndex: map[string]int{}, isRequired: map[string]bool{}}
	if own := v.getObject("properties"); own != nil {
		p.properties = slices.Clone(own.members)
		p.propertyIndex = own.memberIndex()
	}
	p.addRequired(stringsOf(v.getList("required")))
	return p
}

func (p *objectParts) addRequired(names []string) {
	for _, name := range names {
		if !p.isRequired[name] {
			p.isRequired[name] = true
			p.required = append(p.required, name)
		}
	}
}

func (w *schemaWalker) collectParts(v *value, trail []*value, first bool) objectParts {
	if w.steps <= 0 {
		return newObjectParts(newObject())
	}
	v, trail, cyclic := w.resolveRefs(v, trail)
	if cyclic && !first || v.kind != '{' || !w.spendCopy(v) {
		return newObjectParts(newObject())
	}
	p := newObjectParts(v)
	w.steps -= 1 + len(p.properties) + len(p.required) + len(v.members)/8
	for _, part := range v.getList("allOf") {
		if w.steps > 0 {
			p.intersect(w.chargeParts(w.collectParts(part, trail, false)))
		}
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		var alternatives []objectParts
		for _, part := range v.getList(name) {
			alternatives = append(alternatives, w.chargeParts(w.collectParts(part, trail, false)))
			if w.steps <= 0 {
				alternatives = append(alternatives, newObjectParts(newObject())) // for those that are left out
				break
			}
		}
		p.intersect(w.uniteParts(alternatives))
	}
	return p
}

// chargeParts returns the parts if the work suffices to combine them with others, else none.
func (w *schemaWalker) chargeParts(p objectParts) objectParts {
	if !w.spendWork(2 * workMember * (1 + len(p.properties) + len(p.required))) {
		return newObjectParts(newObject())
	}
	return p
}

// intersect adds a part that must match too. Of two properties the first stays, which is the wider choice.
func (p *objectParts) intersect(other objectParts) {
	for _, property := range other.properties {
		if _, known := p.propertyIndex[property.name]; !known {
			p.propertyIndex[property.name] = len(p.properties)
			p.properties = append(p.properties, property)
		}
	}
	p.addRequired(other.required)
}

// uniteParts returns what holds for any alternative: the properties of all, and what all require. A property
// that differs is a union.
func (w *schemaWalker) uniteParts(alternatives []objectParts) objectParts {
	out := newObjectParts(newObject())
	required := map[string]int{}
	for _, p := range alternatives {
		for _, name := range p.required {
			required[name]++
		}
		for _, property := range p.properties {
			at, there := out.propertyIndex[property.name]
			if !there {
				out.propertyIndex[property.name] = len(out.properties)
				out.properties = append(out.properties, property)
				continue
			}
			out.properties[at].value = w.unionSchema(out.properties[at].value, property.value)
		}
	}
	if len(alternatives) > 0 {
		out.addRequired(slices.DeleteFunc(slices.Clone(alternatives[0].required), func(name string) bool {
			return required[name] < len(alternatives)
		}))
	}
	return out
}

const maxAlternatives = 32

// unionSchema returns the union of two schemas, extending one that it made before. Above the bounds it accepts
// anything.
func (w *schemaWalker) unionSchema(a, b *value) *value {
	if a == b || a.kind == '{' && len(a.members) == 0 {
		return a
	}
	alternatives := []*value{a}
	if made := a.getKind("anyOf", '['); made != nil && len(a.members) == 1 {
		alternatives = made.items
	}
	if slices.ContainsFunc(alternatives, func(v *value) bool { return w.equalValues(v, b) }) {
		return a
	}
	if len(alternatives) == maxAlternatives || !w.spendWork(workMember+8*len(alternatives)) {
		return newObject()
	}
	return newObject(objectMember{"anyOf", newList(append(slices.Clip(alternatives), b)...)})
}

func overlayMembers(a, b *value) *value {
	out := cloneObject(a)
	places := out.memberIndex()
	for _, m := range b.members {
		if at, there := places[m.name]; there {
			out.members[at] = m
			continue
		}
		out.members = append(out.members, m)
	}
	return out
}

func withoutMember(v *value, name string) *value {
	out := newObject()
	for _, m := range v.members {
		if m.name != name {
			out.members = append(out.members, m)
		}
	}
	return out
}

func cloneObject(v *value) *value { return newObject(slices.Clone(v.members)...) }

// stringsOf returns the distinct strings of a list.
func stringsOf(list []*value) []string {
	var out []string
	seen := map[string]bool{}
	for _, item := range list {
		if item.kind != '"' {
			continue
		}
		if s := unquoteString(item.raw); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
