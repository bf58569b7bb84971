package toolfmt

import (
	"bytes"
	"unicode/utf8"

	"patchbay/internal/jsonschema"
)

// renamedDefinition returns the server's definition with the tool's name for the model; every other byte is
// unchanged. A repeated name is replaced twice, as readers differ in which one counts. An unreadable definition
// is replaced by a minimal one.
func renamedDefinition(t Tool) []byte {
	definition := []byte(t.Definition)
	if !utf8.Valid(definition) { // offsets are those of valid UTF-8
		definition = bytes.ToValidUTF8(definition, []byte("\uFFFD"))
	}
	root, _ := jsonschema.Decode(definition, jsonschema.Limits{Depth: 1, KeepDuplicates: true})
	if root.Get("name") == nil {
		return minimalDefinition(t)
	}
	name := jsonschema.AppendQuoted(nil, t.Name)
	out := make([]byte, 0, len(definition)+len(name))
	at := 0
	for _, m := range root.Members {
		if m.Name == "name" {
			start := int(m.Value.Offset)
			out = append(append(out, definition[at:start]...), name...)
			at = start + len(m.Value.Raw)
		}
	}
	return append(out, definition[at:]...)
}

func minimalDefinition(t Tool) []byte {
	v := jsonschema.NewObject().Set("name", jsonschema.NewString(t.Name))
	if t.Title != "" {
		v.Set("title", jsonschema.NewString(t.Title))
	}
	if t.Description != "" {
		v.Set("description", jsonschema.NewString(t.Description))
	}
	schema, _ := parseSchema(t.InputSchema)
	if schema == nil || schema.Kind != jsonschema.Object {
		schema = jsonschema.NewObject().Set("type", jsonschema.NewString("object"))
	}
	v.Set("inputSchema", schema)
	return v.AppendTo(nil)
}
