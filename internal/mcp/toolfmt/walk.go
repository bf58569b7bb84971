package toolfmt

import (
	"slices"

	"patchbay/internal/jsonschema"
)

// schemaWalker resolves the references of one schema document. It is bounded: references can unfold to any
// size.
type schemaWalker struct {
	references *jsonschema.References
	budget     int // bytes that may still be written, about
	steps      int // properties and keywords that may still be visited in combined schemas
	work       int // units that may still be spent

	patterns PatternParser
}

// Bounds of one tool's schema.
const (
	maxWritten = 256 << 10
	maxSteps   = 4_000
)

// costPerSchema is the size of a schema without its texts.
const costPerSchema = 32

func newSchemaWalker(root *jsonschema.Node) *schemaWalker {
	w := &schemaWalker{budget: maxWritten, steps: maxSteps, work: maxWork}
	w.references = jsonschema.NewReferences(root, w.spendWork)
	return w
}

// spendBytes takes from the budget and reports whether any is left.
func (w *schemaWalker) spendBytes(bytes int) bool {
	w.budget -= bytes
	return w.budget > 0
}

const maxRefHops = 16 // of a chain of references

// resolveRefs follows references within the document; keywords beside $ref count (JSON Schema 2020-12 section
// 8.2.3.1). trail are the enclosing references; cyclic: v leads back into one of them, or the work is spent. A
// dangling reference is ignored.
func (w *schemaWalker) resolveRefs(v *jsonschema.Node, trail []*jsonschema.Node) (target *jsonschema.Node, longer []*jsonschema.Node, cyclic bool) {
	for range maxRefHops {
		ref := v.GetKind("$ref", jsonschema.String)
		if ref == nil {
			return v, trail, false
		}
		if !w.spendWork(workRef + 16*len(trail) + workMember*(len(v.Members)-1)) {
			break
		}
		to := w.references.Resolve(ref)
		if to != nil && slices.Contains(trail, to) {
			return to, trail, true
		}
		beside := withoutMember(v, "$ref")
		if to == nil || to.Kind != jsonschema.Object {
			return beside, trail, false
		}
		trail = append(slices.Clip(trail), to)
		if v = to; len(beside.Members) > 0 {
			if !w.spendWork(workMember * len(to.Members)) {
				break
			}
			v = overlayMembers(to, beside)
		}
	}
	return jsonschema.NewObject(), trail, true
}

// flattenObject returns an object schema with the properties of all its parts and without references and
// combinations at the top. A property is required only if every alternative requires it.
func (w *schemaWalker) flattenObject(v *jsonschema.Node) *jsonschema.Node {
	p := w.collectParts(v, []*jsonschema.Node{v}, true)
	out := p.rest
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		out.Drop(name)
	}
	if len(p.properties) > 0 {
		out.Set("properties", jsonschema.NewObject(p.properties...))
	}
	if len(p.required) > 0 {
		out.Set("required", jsonschema.NewStrings(p.required))
	}
	return out
}

// objectParts is an object schema with the properties of all that it combines.
type objectParts struct {
	rest          *jsonschema.Node // the schema itself, dereferenced
	properties    []jsonschema.Member
	required      []string
	propertyIndex map[string]int  // of properties
	isRequired    map[string]bool // the set of required
}

func newObjectParts(v *jsonschema.Node) objectParts {
	p := objectParts{rest: cloneObject(v), propertyIndex: map[string]int{}, isRequired: map[string]bool{}}
	if own := v.GetKind("properties", jsonschema.Object); own != nil {
		p.properties = slices.Clone(own.Members)
		p.propertyIndex = own.MemberIndex()
	}
	p.addRequired(stringsOf(v.GetItems("required")))
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

func (w *schemaWalker) collectParts(v *jsonschema.Node, trail []*jsonschema.Node, first bool) objectParts {
	if w.steps <= 0 {
		return newObjectParts(jsonschema.NewObject())
	}
	v, trail, cyclic := w.resolveRefs(v, trail)
	if cyclic && !first || v.Kind != jsonschema.Object || !w.spendCopy(v) {
		return newObjectParts(jsonschema.NewObject())
	}
	p := newObjectParts(v)
	w.steps -= 1 + len(p.properties) + len(p.required) + len(v.Members)/8
	for _, part := range v.GetItems("allOf") {
		if w.steps > 0 {
			p.intersect(w.chargeParts(w.collectParts(part, trail, false)))
		}
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		var alternatives []objectParts
		for _, part := range v.GetItems(name) {
			alternatives = append(alternatives, w.chargeParts(w.collectParts(part, trail, false)))
			if w.steps <= 0 {
				alternatives = append(alternatives, newObjectParts(jsonschema.NewObject())) // for those that are left out
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
		return newObjectParts(jsonschema.NewObject())
	}
	return p
}

// intersect adds a part that must match too. Of two properties the first stays, which is the wider choice.
func (p *objectParts) intersect(other objectParts) {
	for _, property := range other.properties {
		if _, known := p.propertyIndex[property.Name]; !known {
			p.propertyIndex[property.Name] = len(p.properties)
			p.properties = append(p.properties, property)
		}
	}
	p.addRequired(other.required)
}

// uniteParts returns what holds for any alternative: the properties of all, and what all require. A property
// that differs is a union.
func (w *schemaWalker) uniteParts(alternatives []objectParts) objectParts {
	out := newObjectParts(jsonschema.NewObject())
	required := map[string]int{}
	for _, p := range alternatives {
		for _, name := range p.required {
			required[name]++
		}
		for _, property := range p.properties {
			at, there := out.propertyIndex[property.Name]
			if !there {
				out.propertyIndex[property.Name] = len(out.properties)
				out.properties = append(out.properties, property)
				continue
			}
			out.properties[at].Value = w.unionSchema(out.properties[at].Value, property.Value)
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
func (w *schemaWalker) unionSchema(a, b *jsonschema.Node) *jsonschema.Node {
	if a == b || a.Kind == jsonschema.Object && len(a.Members) == 0 {
		return a
	}
	alternatives := []*jsonschema.Node{a}
	if made := a.GetKind("anyOf", jsonschema.Array); made != nil && len(a.Members) == 1 {
		alternatives = made.Items
	}
	if slices.ContainsFunc(alternatives, func(v *jsonschema.Node) bool { return w.equalValues(v, b) }) {
		return a
	}
	if len(alternatives) == maxAlternatives || !w.spendWork(workMember+8*len(alternatives)) {
		return jsonschema.NewObject()
	}
	return jsonschema.NewObject().Set("anyOf", jsonschema.NewArray(append(slices.Clip(alternatives), b)...))
}

func overlayMembers(a, b *jsonschema.Node) *jsonschema.Node {
	out := cloneObject(a)
	places := out.MemberIndex()
	for _, m := range b.Members {
		if at, there := places[m.Name]; there {
			out.Members[at] = m
			continue
		}
		out.Members = append(out.Members, m)
	}
	return out
}

func withoutMember(v *jsonschema.Node, name string) *jsonschema.Node {
	out := jsonschema.NewObject()
	for _, m := range v.Members {
		if m.Name != name {
			out.Members = append(out.Members, m)
		}
	}
	return out
}

func cloneObject(v *jsonschema.Node) *jsonschema.Node {
	return jsonschema.NewObject(slices.Clone(v.Members)...)
}

// stringsOf returns the distinct strings of a list.
func stringsOf(list []*jsonschema.Node) []string {
	var out []string
	seen := map[string]bool{}
	for _, item := range list {
		if item.Kind != jsonschema.String {
			continue
		}
		if s := item.Text(); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
