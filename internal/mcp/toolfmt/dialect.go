package toolfmt

import (
	"strconv"

	"patchbay/internal/jsonschema"
)

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
	depth int                // references being followed
	refs  []*jsonschema.Node // references being followed
}

func (s schemaPath) nested() schemaPath { return schemaPath{s.depth + 1, s.refs} }

func (d googleDialect) convertSchema(v *jsonschema.Node, path schemaPath) *jsonschema.Node {
	if !d.spendBytes(costPerSchema) || !d.spendWork(workSchema) {
		return d.truncatedSchema(v)
	}
	v, trail, cyclic := d.resolveRefs(v, path.refs)
	if cyclic {
		return d.truncatedSchema(v)
	}
	if v.Kind != jsonschema.Object {
		v = jsonschema.NewObject() // true or invalid: any value
	}
	d.spendBytes(len(v.Members)) // unknown members cost too
	if !d.spendWork(workMember*len(v.Members) + workListed*len(listedValues(v))) {
		return d.truncatedSchema(v)
	}
	v, path = d.mergeAllOf(v, schemaPath{path.depth, trail})
	if alternatives := findAlternatives(v); alternatives != nil {
		return d.convertUnion(v, alternatives, path)
	}
	return d.convertTypes(schemaTypes(v), v, path)
}

// convertTypes converts a schema of the named types, or of the types inferred from its keywords.
func (d googleDialect) convertTypes(named []string, v *jsonschema.Node, path schemaPath) *jsonschema.Node {
	if len(named) == 0 {
		named = inferTypes(v)
	}
	named, null := withoutNull(named)
	if len(named) == 0 && !null {
		named = anyTypes
	}
	if more := max(0, len(named)-1); !d.spendBytes(costPerSchema*more) || !d.spendWork(more*(workSchema+16*len(v.Members))) {
		return d.truncatedSchema(v)
	}
	var schemas []*jsonschema.Node
	for _, name := range named {
		schemas = append(schemas, d.convertType(name, v, path))
	}
	return d.newUnion(schemas, null || allowsNull(v), "")
}

// convertType converts a schema for one type, with the keywords of that type.
func (d googleDialect) convertType(name string, v *jsonschema.Node, path schemaPath) *jsonschema.Node {
	out := jsonschema.NewObject().Set("type", jsonschema.NewString(name))
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
		out.Set("nullable", jsonschema.NewTrue())
	}
	return out
}

func (d googleDialect) convertString(out, v *jsonschema.Node) (notes []string) {
	values, odd := enumStrings(v)
	if len(values) > 0 && !odd && len(values) <= maxEnum && d.spendBytes(len(jsonschema.NewStrings(values).AppendTo(nil))) {
		out.Set("enum", jsonschema.NewStrings(values))
		return nil // the other keywords are weaker
	}
	notes = describeValues(v)
	switch format := d.readText(v, "format"); {
	case format == "date-time":
		out.Set("format", jsonschema.NewString(format))
	case format != "" && format != "enum":
		notes = append(notes, "Format: "+truncateText(format, 40)+".")
	}
	if pattern := d.readText(v, "pattern"); pattern != "" && len(pattern) <= maxGooglePattern {
		if _, err := d.patterns.Parse(pattern); err == nil && d.spendBytes(len(pattern)) {
			out.Set("pattern", jsonschema.NewString(pattern))
		}
	}
	copyCounts(out, v, "minLength", "maxLength")
	return notes
}

var numberFormats = map[string]string{"float": "number", "double": "number", "int32": "integer", "int64": "integer"}

func convertNumber(out, v *jsonschema.Node, name string) (notes []string) {
	notes = describeValues(v)
	if format := v.GetText("format"); numberFormats[format] == name {
		out.Set("format", jsonschema.NewString(format))
	}
	for _, bound := range []struct{ inclusive, exclusive, words string }{
		{"minimum", "exclusiveMinimum", "More than "}, {"maximum", "exclusiveMaximum", "Less than "},
	} {
		inclusive, exclusive := v.GetKind(bound.inclusive, jsonschema.Number), v.GetKind(bound.exclusive, jsonschema.Number)
		if v.GetKind(bound.exclusive, jsonschema.True) != nil { // draft 4
			inclusive, exclusive = nil, inclusive
		}
		if inclusive != nil && len(inclusive.Raw) <= maxNumber && isFinite(inclusive) {
			out.Set(bound.inclusive, inclusive)
		}
		if exclusive != nil && len(exclusive.Raw) <= maxNumber {
			notes = append(notes, bound.words+exclusive.Raw+".")
		}
	}
	return notes
}

func isFinite(v *jsonschema.Node) bool {
	_, err := strconv.ParseFloat(v.Raw, 64)
	return err == nil
}

func (d googleDialect) convertArray(out, v *jsonschema.Node, path schemaPath) {
	copyCounts(out, v, "minItems", "maxItems")
	items := v.Get("items")
	tuple := v.GetItems("prefixItems")
	if items != nil && items.Kind == jsonschema.Array {
		tuple, items = items.Items, nil
	}
	switch {
	case path.depth >= maxNesting:
		out.Set("items", newAnySchema())
	case len(tuple) > 0:
		if items != nil && items.Kind == jsonschema.Object {
			tuple = append(tuple[:len(tuple):len(tuple)], items)
		}
		out.Set("items", d.convertSchema(jsonschema.NewObject().Set("anyOf", jsonschema.NewArray(tuple...)), path.nested()))
	case items != nil:
		out.Set("items", d.convertSchema(items, path.nested()))
	default:
		out.Set("items", d.convertSchema(jsonschema.NewObject(), path.nested()))
	}
}

func (d googleDialect) convertObject(out, v *jsonschema.Node, path schemaPath) {
	properties := v.GetKind("properties", jsonschema.Object)
	if properties == nil || path.depth >= maxNesting || d.budget <= 0 {
		return
	}
	written, there := jsonschema.NewObject(), map[string]bool{}
	for _, p := range properties.Members {
		if d.work <= 0 {
			break
		}
		if p.Name == "" || path.depth > 0 && d.budget <= 0 {
			continue
		}
		d.spendBytes(len(p.Name))
		there[p.Name] = true
		written.Members = append(written.Members, jsonschema.Member{Name: p.Name, Value: d.convertSchema(p.Value, path.nested())})
	}
	if len(written.Members) == 0 {
		return
	}
	out.Set("properties", written)
	listed := v.GetItems("required")
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
		out.Set("required", jsonschema.NewStrings(required))
	}
	copyCounts(out, v, "minProperties", "maxProperties")
}

// copyCounts copies bounds that are whole numbers, as an int64 must be.
func copyCounts(out, v *jsonschema.Node, names ...string) {
	for _, name := range names {
		if n := v.GetKind(name, jsonschema.Number); n != nil && len(n.Raw) <= maxNumber {
			if whole, err := strconv.ParseInt(n.Raw, 10, 64); err == nil && whole >= 0 {
				out.Set(name, n)
			}
		}
	}
}

// truncatedSchema stands for a schema that is recursive or beyond the bounds.
func (d googleDialect) truncatedSchema(v *jsonschema.Node) *jsonschema.Node {
	name := "object"
	if v.Kind == jsonschema.Object {
		if named, _ := withoutNull(schemaTypes(v)); len(named) > 0 {
			name = named[0]
		}
	}
	out := jsonschema.NewObject().Set("type", jsonschema.NewString(name))
	if name == "array" {
		out.Set("items", newAnySchema())
	}
	return out
}

// anyTypes are the types for any value. An array is not among them: it needs items.
var anyTypes = []string{"string", "number", "boolean", "object"}

func newAnySchema() *jsonschema.Node {
	list := jsonschema.NewArray()
	for _, name := range anyTypes {
		list.Items = append(list.Items, jsonschema.NewObject().Set("type", jsonschema.NewString(name)))
	}
	return jsonschema.NewObject().Set("anyOf", list)
}
