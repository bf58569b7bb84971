package toolfmt

import (
	"bytes"
	"encoding/json"
)

// renamed is the tool's own definition with its name towards the model; every other byte stays. A name that stands there
// twice is replaced twice, because readers differ in which of them they believe. Where there is no definition that can be
// read, one is made of what is known.
func renamed(t Tool) []byte {
	definition := bytes.ToValidUTF8(t.Definition, []byte("\uFFFD"))
	spots, ok := nameSpots(definition)
	if !ok {
		return madeUp(t)
	}
	name := quote(nil, t.Name)
	out := make([]byte, 0, len(definition)+len(name))
	at := 0
	for _, spot := range spots {
		out = append(append(out, definition[at:spot[0]]...), name...)
		at = spot[1]
	}
	return append(out, definition[at:]...)
}

// nameSpots finds the values of the members called name: first byte, and the one behind the last.
func nameSpots(definition []byte) (spots [][2]int, ok bool) {
	r := reader{data: definition}
	if !json.Valid(definition) || r.next() != '{' {
		return nil, false
	}
	r.pos++ // the brace
	for r.next() != '}' {
		key := unquote(r.str())
		r.next()
		r.pos++ // the colon
		r.next()
		start := r.pos
		r.skip()
		if key == "name" {
			spots = append(spots, [2]int{start, r.pos})
		}
		if r.next() == ',' {
			r.pos++
		}
	}
	return spots, spots != nil
}

func madeUp(t Tool) []byte {
	v := newObject(member{"name", newText(t.Name)})
	if t.Title != "" {
		v.set("title", newText(t.Title))
	}
	if t.Description != "" {
		v.set("description", newText(t.Description))
	}
	schema := parse(t.InputSchema)
	if schema == nil || schema.kind != '{' {
		schema = newObject(member{"type", newText("object")})
	}
	v.set("inputSchema", schema)
	return v.write(nil)
}
