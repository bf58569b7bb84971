package admin

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// maxHops bounds the references that are followed from one schema.
const maxHops = 8

// schemaDocument is a whole schema, in which references are resolved.
type schemaDocument struct {
	root     json.RawMessage            // empty: references are not resolved
	resolved map[string]json.RawMessage // cache by pointer, since each lookup parses the whole schema
}

func newDocument(root json.RawMessage) schemaDocument {
	return schemaDocument{root: root, resolved: map[string]json.RawMessage{}}
}

// resolve replaces a local $ref, a single allOf, or a union with null by its target. Annotations beside the
// reference win. A union of several alternatives is not resolved: its type and properties stay unknown.
func (d schemaDocument) resolve(raw json.RawMessage) (s pageSchema, nullable bool) {
	var outer pageSchema
	for range maxHops {
		part, ok := readSchema(raw)
		if !ok {
			return outer.annotations(), nullable
		}
		s = part.withAnnotations(outer)
		var null bool
		s.Type, null = s.Type.withoutNull()
		nullable = nullable || null
		raw, null = d.nextSubschema(s)
		nullable = nullable || null
		if raw == nil {
			return s, nullable
		}
		outer = s
	}
	return outer.annotations(), nullable
}

// annotations is the schema's annotations alone.
func (s pageSchema) annotations() pageSchema {
	return pageSchema{Title: s.Title, Description: s.Description, Default: s.Default}
}

// withAnnotations returns s with the annotations of the schema that refers to it.
func (s pageSchema) withAnnotations(outer pageSchema) pageSchema {
	if outer.Title.value != "" {
		s.Title = outer.Title
	}
	if outer.Description.value != "" {
		s.Description = outer.Description
	}
	if len(outer.Default) > 0 {
		s.Default = outer.Default
	}
	return s
}

// nextSubschema returns the target of a reference, allOf or union, and whether the union has null; nil if there
// is none.
func (d schemaDocument) nextSubschema(s pageSchema) (raw json.RawMessage, nullable bool) {
	if s.Ref.value != "" {
		return d.resolveRef(s.Ref.value), false
	}
	if len(s.Type) > 0 || len(s.Properties) > 0 || len(s.Enum.value) > 0 {
		return nil, false
	}
	if len(s.AllOf.value) == 1 {
		return s.AllOf.value[0], false
	}
	sides, nullable := withoutNull(s.alternatives())
	if len(sides) == 1 {
		return sides[0], nullable
	}
	return nil, nullable
}

// alternatives are the subschemas of anyOf or oneOf.
func (s pageSchema) alternatives() []json.RawMessage {
	if len(s.AnyOf.value) > 0 {
		return s.AnyOf.value
	}
	return s.OneOf.value
}

// withoutNull removes null from a union.
func withoutNull(union []json.RawMessage) (sides []json.RawMessage, nullable bool) {
	for _, raw := range union {
		if s, ok := readSchema(raw); ok && (slices.Equal(s.Type, typeNames{"null"}) || string(s.Const) == "null") {
			nullable = true
			continue
		}
		sides = append(sides, raw)
	}
	return sides, nullable
}

func (t typeNames) withoutNull() (typeNames, bool) {
	if !slices.Contains(t, "null") || len(t) == 1 {
		return t, false
	}
	return slices.DeleteFunc(slices.Clone(t), func(name string) bool { return name == "null" }), true
}

// resolveRef resolves a reference within the document (RFC 6901); nil if it has no target there.
func (d schemaDocument) resolveRef(ref string) json.RawMessage {
	pointer, ok := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(pointer)
	if !ok || err != nil || len(d.root) == 0 {
		return nil
	}
	raw, known := d.resolved[pointer]
	if !known {
		raw = followPointer(d.root, pointer)
		d.resolved[pointer] = raw
	}
	return raw
}

func followPointer(raw json.RawMessage, pointer string) json.RawMessage {
	if pointer == "" {
		return raw
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		var object orderedObject
		_ = json.Unmarshal(raw, &object)
		raw = object.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	return raw
}

// get returns the value of a member; nil if there is none. Of duplicates the last counts, as in most JSON
// parsers.
func (o orderedObject) get(name string) json.RawMessage {
	for _, m := range slices.Backward(o) {
		if m.name == name {
			return m.value
		}
	}
	return nil
}
