package toolfmt

import "strconv"

// googleDialect converts JSON Schema to Google's dialect. Its Schema has the fields type, format, description,
// nullable, enum, properties, required, minProperties, maxProperties, items, minItems, maxItems, minLength,
// maxLength, pattern, minimum, maximum and anyOf, besides title, default, example and propertyOrdering, which
// are not used here (Gemini API reference, Schema; its proto is google.ai.generativelanguage.v1beta.Schema).
// Any other field is an error: "Unknown name …: Cannot find field". Further:
//
//   - Each schema has one type, by name, or anyOf and nothing beside it.
//   - enum is a list of non-empty strings, of a string alone ("only allowed for STRING type", "cannot be empty").
//   - format is date-time or enum of a string, float or double of a number, int32 or int64 of an integer.
//   - An array has items; properties and required belong to an object, and required names existing properties.
//   - Nesting has an unpublished limit ("exceeds the maximum allowed nesting depth").
type googleDialect struct{ *schemaWalker }

// maxNesting bounds nested objects and arrays. Deeper ones become an object or array of anything.
const maxNesting = 8

// Bounds of one keyword's value. A longer one is left out.
const (
	maxEnum          = 500
	maxGooglePattern = 500 // bytes
	maxNumber        = 40  // bytes
)

type schemaPath struct {
	depth int      // references being followed
	refs  []*value // references being followed
}

func (s schemaPath) nested() schemaPath { return schemaPath{s.depth + 1, s.refs} }

func (d googleDialect) convertSchema(v *value, path schemaPath) *value {
	if !d.spendBytes(costPerSchema) || !d.spendWork(workSchema) {
		return d.truncatedSchema(v)
	}
	v, trail, cyclic := d.resolveRefs(v, path.refs)
	if cyclic {
		return d.truncatedSchema(v)
	}
	if v.kind != '{' {
		v = newObject() // true or invalid: any value
	}
	d.spendBytes(len(v.members)) // unknown members cost too
	if !d.spendWork(workMember*len(v.members) + workListed*len(listedValues(v))) {
		return d.truncatedSchema(v)
	}
	v, path = d.mergeAllOf(v, schemaPath{path.depth, trail})
	if alternatives := findAlternatives(v); alternatives != nil {
		return d.convertUnion(v, alternatives, path)
	}
	return d.convertTypes(schemaTypes(v), v, path)
}

// convertTypes converts a schema of the named types, or of the types inferred from its keywords.
func (d googleDialect) convertTypes(named []string, v *value, path schemaPath) *value {
	if len(named) == 0 {
		named = inferTypes(v)
	}
	named, null := withoutNull(named)
	if len(named) == 0 && !null {
		named = anyTypes
	}
	if more := max(0, len(named)-1); !d.spendBytes(costPerSchema*more) || !d.spendWork(more*(workSchema+16*len(v.members))) {
		return d.truncatedSchema(v)
	}
	var schemas []*value
	for _, name := range named {
		schemas = append(schemas, d.convertType(name, v, path))
	}
	return d.newUnion(schemas, null || allowsNull(v), "")
}

// convertType converts a schema for one type, with the keywords of that type.
func (d googleDialect) convertType(name string, v *value, path schemaPath) *value {
	out := newObject(objectMember{"type", newText(name)})
	var notes []string
	switch name {
	case "string":
		notes = d.convertString(out, v)
	case "number", "integer":
		notes = convertNumber(out, v, name)
	case "boolean":
		notes = describeValues(v)
	case "array":
		d.convertArray(out, v, path)
	case "object":
		d.convertObject(out, v, path)
	}
	d.setDescription(out, v, notes)
	if allowsNull(v) {
		out.set("nullable", newTrue())
	}
	return out
}

func (d googleDialect) convertString(out, v *value) (notes []string) {
	values, odd := enumStrings(v)
	if len(values) > 0 && !odd && len(values) <= maxEnum && d.spendBytes(len(newTexts(values).write(nil))) {
		out.set("enum", newTexts(values))
		return nil // the other keywords are weaker
	}
	notes = describeValues(v)
	switch format := d.readText(v, "format"); {
	case format == "date-time":
		out.set("format", newText(format))
	case format != "" && format != "enum":
		notes = append(notes, "Format: "+truncateText(format, 40)+".")
	}
	if pattern := d.readText(v, "pattern"); pattern != "" && len(pattern) <= maxGooglePattern {
		if _, err := d.patterns.Parse(pattern); err == nil && d.spendBytes(len(pattern)) {
			out.set("pattern", newText(pattern))
		}
	}
	copyCounts(out, v, "minLength", "maxLength")
	return notes
}

var numberFormats = map[string]string{"float": "number", "double": "number", "int32": "integer", "int64": "integer"}

func convertNumber(out, v *value, name string) (notes []string) {
	notes = describeValues(v)
	if format := v.getText("format"); numberFormats[format] == name {
		out.set("format", newText(format))
	}
	for _, bound := range []struct{ inclusive, exclusive, words string }{
		{"minimum", "exclusiveMinimum", "More than "}, {"maximum", "exclusiveMaximum", "Less than "},
	} {
		inclusive, exclusive := v.getKind(bound.inclusive, '0'), v.getKind(bound.exclusive, '0')
		if v.getKind(bound.exclusive, 't') != nil { // draft 4
			inclusive, exclusive = nil, inclusive
		}
		if inclusive != nil && len(inclusive.raw) <= maxNumber && isFinite(inclusive) {
			out.set(bound.inclusive, inclusive)
		}
		if exclusive != nil && len(exclusive.raw) <= maxNumber {
			notes = append(notes, bound.words+string(exclusive.raw)+".")
		}
	}
	return notes
}

func isFinite(v *value) bool {
	_, err := strconv.ParseFloat(string(v.raw), 64)
	return err == nil
}

func (d googleDialect) convertArray(out, v *value, path schemaPath) {
	copyCounts(out, v, "minItems", "maxItems")
	items := v.get("items")
	tuple := v.getList("prefixItems")
	if items != nil && items.kind == '[' {
		tuple, items = items.items, nil
	}
	switch {
	case path.depth >= maxNesting:
		out.set("items", newAnySchema())
	case len(tuple) > 0:
		if items != nil && items.kind == '{' {
			tuple = append(tuple[:len(tuple):len(tuple)], items)
		}
		out.set("items", d.convertSchema(newObject(objectMember{"anyOf", newList(tuple...)}), path.nested()))
	case items != nil:
		out.set("items", d.convertSchema(items, path.nested()))
	default:
		out.set("items", d.convertSchema(newObject(), path.nested()))
	}
}

func (d googleDialect) convertObject(out, v *value, path schemaPath) {
	properties := v.getObject("properties")
	if properties == nil || path.depth >= maxNesting || d.budget <= 0 {
		return
	}
	written, there := newObject(), map[string]bool{}
	for _, p := range properties.members {
		if d.work <= 0 {
			break
		}
		if p.name == "" || path.depth > 0 && d.budget <= 0 {
			continue
		}
		d.spendBytes(len(p.name))
		there[p.name] = true
		written.members = append(written.members, objectMember{p.name, d.convertSchema(p.value, path.nested())})
	}
	if len(written.members) == 0 {
		return
	}
	out.set("properties", written)
	listed := v.getList("required")
	if !d.spendWork(workListed * len(listed)) {
		return
	}
	var required []string
	for _, name := range stringsOf(listed) {
		if there[name] {
			required = append(required, name)
		}
	}
	if required != nil {
		out.set("required", newTexts(required))
	}
	copyCounts(out, v, "minProperties", "maxProperties")
}

// copyCounts copies bounds that are whole numbers, as an int64 must be.
func copyCounts(out, v *value, names ...string) {
	for _, name := range names {
		if n := v.getKind(name, '0'); n != nil && len(n.raw) <= maxNumber {
			if whole, err := strconv.ParseInt(string(n.raw), 10, 64); err == nil && whole >= 0 {
				out.set(name, n)
			}
		}
	}
}

// truncatedSchema stands for a schema that is recursive or beyond the bounds.
func (d googleDialect) truncatedSchema(v *value) *value {
	name := "object"
	if v.kind == '{' {
		if named, _ := withoutNull(schemaTypes(v)); len(named) > 0 {
			name = named[0]
		}
	}
	out := newObject(objectMember{"type", newText(name)})
	if name == "array" {
		out.set("items", newAnySchema())
	}
	return out
}

// anyTypes are the types for any value. An array is not among them: it needs items.
var anyTypes = []string{"string", "number", "boolean", "object"}

func newAnySchema() *value {
	list := newList()
	for _, name := range anyTypes {
		list.items = append(list.items, newObject(objectMember{"type", newText(name)}))
	}
	return newObject(objectMember{"anyOf", list})
}
