package toolfmt

import (
	"encoding/json"

	"patchbay/internal/jsonschema"
)

// googleTools returns all tools as one Tool of the Gemini API (Tool.functionDeclarations). parameters is a
// Schema, "a select subset of an OpenAPI 3.0 schema object" (Gemini API reference, Schema). It is omitted if
// there are none: an object without properties is refused.
func googleTools(tools []Tool) []json.RawMessage {
	if len(tools) == 0 {
		return []json.RawMessage{}
	}
	out := []byte(`{"functionDeclarations":[`)
	for i, t := range tools {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"name":`...)
		out = jsonschema.AppendQuoted(out, t.Name)
		out = append(out, `,"description":`...)
		schema, unsaid := googleParameters(t.InputSchema)
		out = jsonschema.AppendQuoted(out, t.modelDescription(maxOtherDescription, unsaid))
		if schema != nil {
			out = append(out, `,"parameters":`...)
			out = schema.AppendTo(out)
		}
		out = append(out, '}')
	}
	return []json.RawMessage{append(out, "]}"...)}
}

// googleParameters returns a tool's input schema in Google's dialect; nil if it has no properties. unsaid is a
// sentence on what was left out; it may be empty.
func googleParameters(raw json.RawMessage) (schema *jsonschema.Node, unsaid string) {
	v, isTooLarge := parseSchema(raw)
	if isTooLarge {
		return nil, tooLarge
	}
	if v == nil || v.Kind != jsonschema.Object {
		return nil, ""
	}
	d := googleDialect{newSchemaWalker(v)}
	flat := d.flattenObject(v)
	flat.Set("type", jsonschema.NewString("object"))
	if schema := d.convertType("object", flat, schemaPath{refs: []*jsonschema.Node{v}}); schema.Get("properties") != nil {
		return schema, ""
	}
	return nil, ""
}
