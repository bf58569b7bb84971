package toolfmt

import (
	"regexp/syntax"
	"strconv"
)

// dialect writes schemas of Google's dialect. Its Schema knows the fields type, format, description, nullable, enum,
// properties, required, minProperties, maxProperties, items, minItems, maxItems, minLength, maxLength, pattern, minimum, maximum
// and anyOf, besides title, default, example and propertyOrdering, which we do not use (Gemini API reference, Schema; its
// proto is google.ai.generativelanguage.v1beta.Schema). Any other word is an error: "Unknown name …: Cannot find field". Further:
//
//   - Each schema has one type, by name, or anyOf and nothing beside it.
//   - enum is a list of strings that are not empty, of a string alone ("only allowed for STRING type", "cannot be empty").
//   - format is date-time or enum of a string, float or double of a number, int32 or int64 of an integer.
//   - An array has items; properties and required belong to an object, and required names properties that are there.
//   - Nesting has a limit of which no number is published ("exceeds the maximum allowed nesting depth").
type dialect struct{ *walk }

// maxNesting is how many objects and arrays may stand in one another. What is deeper becomes an object or array of anything.
const maxNesting = 8

// maxEnum is how many values an enumeration may have.
const maxEnum = 500

// scene is where in the document a schema stands.
type scene struct {
	depth int      // objects and arrays around it
	trail []*value // references that are being followed
}

func (s scene) deeper() scene { return scene{s.depth + 1, s.trail} }

// schema writes any schema.
func (d dialect) schema(v *value, at scene) *value {
	if !d.spend(perNode) {
		return d.nothingMore(v)
	}
	v, trail, cyclic := d.deref(v, at.trail)
	if cyclic {
		return d.nothingMore(v)
	}
	if v.kind != '{' {
		v = newObject() // true, or nonsense: anything will do
	}
	d.spend(len(v.members)) // what nobody reads costs, too
	v, at = d.all(v, scene{at.depth, trail})
	if alternatives := unionOf(v); alternatives != nil {
		return d.union(v, alternatives, at)
	}
	return d.ofTypes(types(v), v, at)
}

// ofTypes writes a schema whose types are named, or told by its words.
func (d dialect) ofTypes(named []string, v *value, at scene) *value {
	if len(named) == 0 {
		named = inferred(v)
	}
	named, null := withoutNull(named)
	if len(named) == 0 && !null {
		named = anyType
	}
	var schemas []*value
	for _, name := range named {
		schemas = append(schemas, d.typed(name, v, at))
	}
	return together(schemas, null || nullable(v), "")
}

// typed writes a schema of one type, with what belongs to that type.
func (d dialect) typed(name string, v *value, at scene) *value {
	out := newObject(member{"type", newText(name)})
	var notes []string
	switch name {
	case "string":
		notes = d.text(out, v)
	case "number", "integer":
		notes = number(out, v, name)
	case "boolean":
		notes = listed(v)
	case "array":
		d.array(out, v, at)
	case "object":
		d.object(out, v, at)
	}
	d.describe(out, v, notes)
	if nullable(v) {
		out.set("nullable", newTrue())
	}
	return out
}

func (d dialect) text(out, v *value) (notes []string) {
	values, odd := enumerated(v)
	if len(values) > 0 && !odd && len(values) <= maxEnum && d.spend(len(newTexts(values).write(nil))) {
		out.set("enum", newTexts(values))
		return nil // the other words say less
	}
	notes = listed(v)
	switch format := v.text("format"); {
	case format == "date-time":
		out.set("format", newText(format))
	case format != "" && format != "enum":
		notes = append(notes, "Format: "+cut(format, 40)+".")
	}
	if pattern := v.text("pattern"); pattern != "" {
		if _, err := syntax.Parse(pattern, syntax.Perl); err == nil && len(pattern) <= 500 && d.spend(len(pattern)) {
			out.set("pattern", newText(pattern))
		}
	}
	counts(out, v, "minLength", "maxLength")
	return notes
}

var numberFormats = map[string]string{"float": "number", "double": "number", "int32": "integer", "int64": "integer"}

func number(out, v *value, name string) (notes []string) {
	notes = listed(v)
	if format := v.text("format"); numberFormats[format] == name {
		out.set("format", newText(format))
	}
	for _, bound := range []struct{ inclusive, exclusive, words string }{
		{"minimum", "exclusiveMinimum", "More than "}, {"maximum", "exclusiveMaximum", "Less than "},
	} {
		inclusive, exclusive := v.kinded(bound.inclusive, '0'), v.kinded(bound.exclusive, '0')
		if v.kinded(bound.exclusive, 't') != nil { // as draft 4 says it
			inclusive, exclusive = nil, inclusive
		}
		if inclusive != nil && finite(inclusive) {
			out.set(bound.inclusive, inclusive)
		}
		if exclusive != nil && len(exclusive.raw) <= 40 {
			notes = append(notes, bound.words+string(exclusive.raw)+".")
		}
	}
	return notes
}

func finite(v *value) bool {
	_, err := strconv.ParseFloat(string(v.raw), 64)
	return err == nil
}

func (d dialect) array(out, v *value, at scene) {
	counts(out, v, "minItems", "maxItems")
	items := v.get("items")
	tuple := v.list("prefixItems")
	if items != nil && items.kind == '[' {
		tuple, items = items.items, nil
	}
	switch {
	case at.depth >= maxNesting:
		out.set("items", anything())
	case len(tuple) > 0:
		if items != nil && items.kind == '{' {
			tuple = append(tuple[:len(tuple):len(tuple)], items)
		}
		out.set("items", d.schema(newObject(member{"anyOf", newList(tuple...)}), at.deeper()))
	case items != nil:
		out.set("items", d.schema(items, at.deeper()))
	default:
		out.set("items", d.schema(newObject(), at.deeper()))
	}
}

func (d dialect) object(out, v *value, at scene) {
	properties := v.object("properties")
	if properties == nil || at.depth >= maxNesting || d.room <= 0 {
		return
	}
	written, there := newObject(), map[string]bool{}
	for _, p := range properties.members {
		if p.name == "" || at.depth > 0 && d.room <= 0 {
			continue
		}
		d.spend(len(p.name))
		there[p.name] = true
		written.members = append(written.members, member{p.name, d.schema(p.value, at.deeper())})
	}
	if len(written.members) == 0 {
		return
	}
	out.set("properties", written)
	var required []string
	for _, name := range texts(v.list("required")) {
		if there[name] {
			required = append(required, name)
		}
	}
	if required != nil {
		out.set("required", newTexts(required))
	}
	counts(out, v, "minProperties", "maxProperties")
}

// counts takes over bounds that are whole numbers, as an int64 must be.
func counts(out, v *value, names ...string) {
	for _, name := range names {
		if n := v.kinded(name, '0'); n != nil {
			if whole, err := strconv.ParseInt(string(n.raw), 10, 64); err == nil && whole >= 0 {
				out.set(name, n)
			}
		}
	}
}

// nothingMore stands for a schema that is not written: because it leads back into itself, or goes too far.
func (d dialect) nothingMore(v *value) *value {
	name := "object"
	if v.kind == '{' {
		if named, _ := withoutNull(types(v)); len(named) > 0 {
			name = named[0]
		}
	}
	out := newObject(member{"type", newText(name)})
	if name == "array" {
		out.set("items", anything())
	}
	return out
}

// anyType are the types that stand for a value of any kind. An array is not among them: it would have to say of what.
var anyType = []string{"string", "number", "boolean", "object"}

func anything() *value {
	list := newList()
	for _, name := range anyType {
		list.items = append(list.items, newObject(member{"type", newText(name)}))
	}
	return newObject(member{"anyOf", list})
}
