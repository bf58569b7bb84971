package tools

import (
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/jsonschema"
)

// maxHops bounds the references, allOf and unions that are followed from one schema.
const maxHops = 8

// resolve replaces a local $ref, a single allOf, or a union with null by its target. Annotations beside the
// reference win. A union of several alternatives is not resolved: its type and properties stay unknown.
func (d *schemaDocument) resolve(v *jsonschema.Node) (s pageSchema, nullable bool) {
	var outer pageSchema
	for range maxHops {
		part, ok := d.readSchema(v)
		if !ok {
			return outer.annotations(), nullable
		}
		s = part.withAnnotations(outer)
		var null bool
		s.types, null = typesWithoutNull(s.types)
		nullable = nullable || null
		v, null = d.nextSubschema(s)
		nullable = nullable || null
		if v == nil {
			return s, nullable
		}
		outer = s
	}
	return outer.annotations(), nullable
}

// annotations is the schema's annotations alone.
func (s pageSchema) annotations() pageSchema {
	return pageSchema{title: s.title, description: s.description, defaultValue: s.defaultValue}
}

// withAnnotations returns s with the annotations of the schema that refers to it.
func (s pageSchema) withAnnotations(outer pageSchema) pageSchema {
	if outer.title != "" {
		s.title = outer.title
	}
	if outer.description != "" {
		s.description = outer.description
	}
	if len(outer.defaultValue) > 0 {
		s.defaultValue = outer.defaultValue
	}
	return s
}

// nextSubschema returns the target of a reference, allOf or union, and whether the union has null; nil if there
// is none.
func (d *schemaDocument) nextSubschema(s pageSchema) (v *jsonschema.Node, nullable bool) {
	switch {
	case s.ref != nil && d.references == nil:
		return nil, false
	case s.ref != nil:
		return d.references.Resolve(s.ref), false
	case len(s.types) > 0 || len(s.properties) > 0 || len(s.enum) > 0:
		return nil, false
	case len(s.allOf) == 1:
		return s.allOf[0], false
	}
	sides, nullable := withoutNull(s.alternatives())
	if len(sides) == 1 {
		return sides[0], nullable
	}
	return nil, nullable
}

// readRef returns a reference for [jsonschema.References]; nil if n is none. The name of an anchor is read as a
// member of the document. A reference with an invalid escape has no target.
func readRef(n *jsonschema.Node) *jsonschema.Node {
	ref := n.Text()
	if ref == "" {
		return nil
	}
	fragment, local := strings.CutPrefix(ref, "#")
	name, err := url.PathUnescape(fragment)
	switch {
	case err != nil:
		ref = ""
	case local && name != "" && name[0] != '/':
		ref = "#/" + fragment
	}
	return jsonschema.NewString(ref) // without escapes that would count as its length
}

// alternatives are the subschemas of anyOf or oneOf.
func (s pageSchema) alternatives() []*jsonschema.Node {
	if len(s.anyOf) > 0 {
		return s.anyOf
	}
	return s.oneOf
}

// withoutNull removes null from a union. A union with more alternatives than a form stays as it is.
func withoutNull(union []*jsonschema.Node) (sides []*jsonschema.Node, nullable bool) {
	if len(union) > maxFormChoices {
		return union, false
	}
	for _, v := range union {
		if isNull(v) {
			nullable = true
			continue
		}
		sides = append(sides, v)
	}
	return sides, nullable
}

func typesWithoutNull(types []string) ([]string, bool) {
	if !slices.Contains(types, "null") || len(types) == 1 {
		return types, false
	}
	return slices.DeleteFunc(slices.Clone(types), func(name string) bool { return name == "null" }), true
}
