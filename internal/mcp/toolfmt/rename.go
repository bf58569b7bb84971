package toolfmt

import (
	"bytes"
	"encoding/json"
)

// renamedDefinition returns the server's definition with the tool's name for the model; every other byte is
// unchanged. A repeated name is replaced twice, as readers differ in which one counts. An unreadable definition
// is replaced by a minimal one.
func renamedDefinition(t Tool) []byte {
	definition := bytes.ToValidUTF8(t.Definition, []byte("\uFFFD"))
	spots, ok := findNameValues(definition)
	if !ok {
		return minimalDefinition(t)
	}
	name := appendQuoted(nil, t.Name)
	out := make([]byte, 0, len(definition)+len(name))
	at := 0
	for _, spot := range spots {
		out = append(append(out, definition[at:spot[0]]...), name...)
		at = spot[1]
	}
	return append(out, definition[at:]...)
}

// findNameValues returns the spans of the values of all members called name.
func findNameValues(definition []byte) (spots [][2]int, ok bool) {
	r := reader{data: definition}
	if !json.Valid(definition) || r.next() != '{' {
		return nil, false
	}
	r.pos++ // {
	for r.next() != '}' {
		key := unquoteString(r.readString())
		r.next()
		r.pos++ // :
		r.next()
		start := r.pos
		r.skipValue()
		if key == "name" {
			spots = append(spots, [2]int{start, r.pos})
		}
		if r.next() == ',' {
			r.pos++
		}
	}
	return spots, spots != nil
}

func minimalDefinition(t Tool) []byte {
	v := newObject(objectMember{"name", newText(t.Name)})
	if t.Title != "" {
		v.set("title", newText(t.Title))
	}
	if t.Description != "" {
		v.set("description", newText(t.Description))
	}
	schema, _ := parseSchema(t.InputSchema)
	if schema == nil || schema.kind != '{' {
		schema = newObject(objectMember{"type", newText("object")})
	}
	v.set("inputSchema", schema)
	return v.write(nil)
}
