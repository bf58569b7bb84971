package tools

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Bounds of references.
const (
	maxHops     = 8       // followed from one schema
	maxRefBytes = 4 << 10 // of the text
)

// schemaDocument is a whole schema, decoded once for the form and for the table of parameters.
type schemaDocument struct {
	root    *schemaValue            // nil: invalid, or too large
	size    int                     // of the text, in bytes
	isWhole bool                    // all of it was decoded
	targets map[string]*schemaValue // by the text of $ref; nil: references are not resolved
}

func newDocument(raw json.RawMessage) *schemaDocument {
	d := &schemaDocument{size: len(raw), targets: map[string]*schemaValue{}}
	d.root, d.isWhole = decodeSchema(raw)
	return d
}

// resolve replaces a local $ref, a single allOf, or a union with null by its target. Annotations beside the
// reference win. A union of several alternatives is not resolved: its type and properties stay unknown.
func (d *schemaDocument) resolve(v *schemaValue) (s pageSchema, nullable bool) {
	var outer pageSchema
	for range maxHops {
		part, ok := v.readSchema()
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
func (d *schemaDocument) nextSubschema(s pageSchema) (v *schemaValue, nullable bool) {
	if s.ref != "" {
		return d.resolveRef(s.ref), false
	}
	if len(s.types) > 0 || len(s.properties) > 0 || len(s.enum) > 0 {
		return nil, false
	}
	if len(s.allOf) == 1 {
		return s.allOf[0], false
	}
	sides, nullable := withoutNull(s.alternatives())
	if len(sides) == 1 {
		return sides[0], nullable
	}
	return nil, nullable
}

// alternatives are the subschemas of anyOf or oneOf.
func (s pageSchema) alternatives() []*schemaValue {
	if len(s.anyOf) > 0 {
		return s.anyOf
	}
	return s.oneOf
}

// withoutNull removes null from a union. A union with more alternatives than a form stays as it is.
func withoutNull(union []*schemaValue) (sides []*schemaValue, nullable bool) {
	if len(union) > maxFormChoices {
		return union, false
	}
	for _, v := range union {
		if v.isNull() {
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

// resolveRef resolves a reference within the document (RFC 6901); nil if it has no target there.
func (d *schemaDocument) resolveRef(ref string) *schemaValue {
	if d.targets == nil || len(ref) > maxRefBytes {
		return nil
	}
	v, known := d.targets[ref]
	if !known {
		v = d.followPointer(ref)
		d.targets[ref] = v
	}
	return v
}

var pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")

func (d *schemaDocument) followPointer(ref string) *schemaValue {
	pointer, ok := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(pointer)
	if !ok || err != nil {
		return nil
	}
	if pointer == "" {
		return d.root
	}
	v := d.root
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if v = v.followStep(pointerUnescaper.Replace(token)); v == nil {
			return nil
		}
	}
	return v
}

// followStep returns the member or the item that a token of a pointer names; nil if there is none.
func (v *schemaValue) followStep(token string) *schemaValue {
	if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v.items) {
		return v.items[i]
	}
	return v.getMember(token)
}
