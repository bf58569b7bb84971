package openapi

import (
	"slices"

	"patchbay/internal/jsonschema"
)

// bodyField is a member of an object.
type bodyField struct {
	name     string
	schema   value
	required bool
}

// fieldList collects the members of an object from the parts of its schema.
type fieldList struct {
	document *Document
	fields   []bodyField
	at       map[string]int
	required []string
	parts    int
}

// listFields returns the members of an object. ok is false if its schema says more than they can: alternatives, or members
// that it does not name.
func (d *Document) listFields(schema value) (fields []bodyField, ok bool) {
	l := fieldList{document: d, at: map[string]int{}}
	if !l.addSchema(schema) {
		return nil, false
	}
	for i := range l.fields {
		l.fields[i].required = slices.Contains(l.required, l.fields[i].name)
	}
	return l.fields, true
}

// maxParts bounds the schemas of allOf.
const maxParts = 64

func (l *fieldList) addSchema(v value) bool {
	v, _ = l.document.followRef(v)
	if l.parts++; !v.Is(jsonschema.Object) || l.parts > maxParts {
		return false
	}
	if types := readTypes(v); len(types) > 0 && !slices.Contains(types, "object") {
		return false
	}
	for _, m := range v.Members {
		if !l.acceptsKeyword(value{m.Value, v.source}, m.Name) {
			return false
		}
	}
	for _, m := range v.Get("properties").Fields() {
		if !l.addField(m.Name, value{m.Value, v.source}) {
			return false
		}
	}
	for _, item := range v.Get("required").List() {
		l.required = append(l.required, item.Text())
	}
	for _, part := range v.Get("allOf").Values() {
		if !l.addSchema(part) {
			return false
		}
	}
	return true
}

// acceptsKeyword reports whether a keyword says nothing beyond the members.
func (l *fieldList) acceptsKeyword(v value, name string) bool {
	switch name {
	case "oneOf", "anyOf":
		return !slices.ContainsFunc(v.Values(), saysMoreThanRequired)
	case "not", "if", "patternProperties", "propertyNames", "dependentSchemas", "unevaluatedProperties", "enum", "const", "minProperties", "maxProperties":
		return v.Is(jsonschema.False)
	case "additionalProperties":
		return v.Is(jsonschema.False)
	case "discriminator":
		return len(v.Get("mapping").Fields()) == 0
	}
	return true
}

// saysMoreThanRequired reports whether an alternative is more than a list of required members. The API checks those.
func saysMoreThanRequired(v value) bool {
	return !v.Is(jsonschema.Object) || slices.ContainsFunc(v.Members, func(m jsonschema.Member) bool {
		return m.Name != "required" && m.Name != "title" && m.Name != "description"
	})
}

// addField adds a member. The same member in two parts of allOf has to have one schema.
func (l *fieldList) addField(name string, schema value) bool {
	if i, known := l.at[name]; known {
		return l.fields[i].schema.Node == schema.Node || string(l.fields[i].schema.AppendTo(nil)) == string(schema.AppendTo(nil))
	}
	l.at[name] = len(l.fields)
	l.fields = append(l.fields, bodyField{name: name, schema: schema})
	return len(l.fields) <= maxFields
}
