package toolfmt

import "encoding/json"

// google writes all tools as one tool of the Gemini API (Tool.functionDeclarations). What goes into parameters is a Schema,
// "a select subset of an OpenAPI 3.0 schema object" (Gemini API reference, Schema); for a function without parameters it is left out,
// because an object without properties is refused there.
func google(tools []Tool) []json.RawMessage {
	if len(tools) == 0 {
		return []json.RawMessage{}
	}
	out := []byte(`{"functionDeclarations":[`)
	for i, t := range tools {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"name":`...)
		out = quote(out, t.Name)
		out = append(out, `,"description":`...)
		out = quote(out, t.describe(otherDescription))
		if schema := googleParameters(t.InputSchema); schema != nil {
			out = append(out, `,"parameters":`...)
			out = schema.write(out)
		}
		out = append(out, '}')
	}
	return []json.RawMessage{append(out, "]}"...)}
}

// googleParameters is a tool's input schema in Google's dialect; nil where it has no properties.
func googleParameters(raw json.RawMessage) *value {
	v := parse(raw)
	if v == nil || v.kind != '{' {
		return nil
	}
	d := dialect{newWalk(v)}
	flat := d.flat(v)
	flat.set("type", newText("object"))
	if schema := d.typed("object", flat, scene{trail: []*value{v}}); schema.get("properties") != nil {
		return schema
	}
	return nil
}
