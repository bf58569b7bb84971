package admin

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// maxHops is how often a schema may point elsewhere before nobody follows.
const maxHops = 8

// document is a whole schema, which its parts refer to.
type document struct {
	root  json.RawMessage            // empty: references lead nowhere
	found map[string]json.RawMessage // what was looked for already: each look reads the whole schema
}

func newDocument(root json.RawMessage) document {
	return document{root: root, found: map[string]json.RawMessage{}}
}

// plain reads a part with what it only points to put in its place: a local $ref, a lone allOf, a union of something and null. What
// stands beside the pointer (title, description, default) wins. Where more is to be known, as in a union of several, it is not plain:
// kind and properties stay unknown.
func (d document) plain(raw json.RawMessage) (s schema, nullable bool) {
	var above schema
	for range maxHops {
		here, ok := readSchema(raw)
		if !ok {
			return above.about(), nullable
		}
		s = here.below(above)
		var null bool
		s.Type, null = s.Type.withoutNull()
		nullable = nullable || null
		raw, null = d.next(s)
		nullable = nullable || null
		if raw == nil {
			return s, nullable
		}
		above = s
	}
	return above.about(), nullable
}

// about is what a schema says for people.
func (s schema) about() schema {
	return schema{Title: s.Title, Description: s.Description, Default: s.Default}
}

// below is s as it is where above points to it.
func (s schema) below(above schema) schema {
	if above.Title.value != "" {
		s.Title = above.Title
	}
	if above.Description.value != "" {
		s.Description = above.Description
	}
	if len(above.Default) > 0 {
		s.Default = above.Default
	}
	return s
}

// next is where a schema points, and whether null is the other way; nil: nowhere.
func (d document) next(s schema) (raw json.RawMessage, nullable bool) {
	if s.Ref.value != "" {
		return d.find(s.Ref.value), false
	}
	if len(s.Type) > 0 || len(s.Properties) > 0 || len(s.Enum.value) > 0 {
		return nil, false
	}
	if len(s.AllOf.value) == 1 {
		return s.AllOf.value[0], false
	}
	sides, nullable := withoutNull(s.union())
	if len(sides) == 1 {
		return sides[0], nullable
	}
	return nil, nullable
}

// union is what a schema may be one of.
func (s schema) union() []json.RawMessage {
	if len(s.AnyOf.value) > 0 {
		return s.AnyOf.value
	}
	return s.OneOf.value
}

// withoutNull takes null out of a union.
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

// find follows a reference within the document (RFC 6901); nil: it leads nowhere, or elsewhere.
func (d document) find(ref string) json.RawMessage {
	pointer, ok := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(pointer)
	if !ok || err != nil || len(d.root) == 0 {
		return nil
	}
	raw, known := d.found[pointer]
	if !known {
		raw = descend(d.root, pointer)
		d.found[pointer] = raw
	}
	return raw
}

func descend(raw json.RawMessage, pointer string) json.RawMessage {
	if pointer == "" {
		return raw
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		var object ordered
		_ = json.Unmarshal(raw, &object)
		raw = object.member(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	return raw
}

// member is the value of that name; nil: there is none. Of two the last counts, as in most readers of JSON.
func (o ordered) member(name string) json.RawMessage {
	for _, m := range slices.Backward(o) {
		if m.name == name {
			return m.value
		}
	}
	return nil
}
