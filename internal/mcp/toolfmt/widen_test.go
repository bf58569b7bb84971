package toolfmt_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"patchbay/internal/mcp/toolfmt"
)

// matchesSchema reports whether a value matches a schema of Google's dialect.
func matchesSchema(schema map[string]any, v any) bool {
	if list, there := schema["anyOf"].([]any); there {
		return slices.ContainsFunc(list, func(s any) bool { return matchesSchema(s.(map[string]any), v) })
	}
	if v == nil {
		return schema["nullable"] == true
	}
	switch v := v.(type) {
	case string:
		list, listed := schema["enum"].([]any)
		return schema["type"] == "string" && (!listed || slices.Contains(list, any(v)))
	case json.Number:
		whole := !bytes.ContainsAny([]byte(v), ".eE")
		return schema["type"] == "number" || whole && schema["type"] == "integer"
	case bool:
		return schema["type"] == "boolean"
	case []any:
		items, _ := schema["items"].(map[string]any)
		return schema["type"] == "array" && !slices.ContainsFunc(v, func(item any) bool { return !matchesSchema(items, item) })
	case map[string]any:
		return schema["type"] == "object" && matchesObject(schema, v)
	}
	return false
}

func matchesObject(schema map[string]any, v map[string]any) bool {
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, there := v[name.(string)]; !there {
			return false
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, inner := range v {
		if s, there := properties[name].(map[string]any); there && !matchesSchema(s, inner) {
			return false
		}
	}
	return true
}

func decodeObject(t testing.TB, raw []byte) map[string]any {
	t.Helper()
	var v map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return v
}

func TestGoogleDialect_AcceptsWhatServerAccepts(t *testing.T) {
	t.Parallel()
	for schema, arguments := range map[string][]string{
		`{"properties":{"a":{"type":["string","null"]},"b":{"enum":["x",1,null]},"c":{"const":"k"},"d":{}}}`: {
			`{"a":null,"b":1,"c":"k","d":{"any":[1]}}`, `{"a":"s","b":"x","d":true}`, `{"b":null,"d":1.5}`, `{}`,
		},
		`{"properties":{"k":{"type":"string"}},"oneOf":[{"properties":{"k":{"const":"a"},"x":{"type":"string"}},"required":["k","x"]},{"properties":{"k":{"const":"b"},"x":{"type":"integer"}},"required":["k"]}]}`: {
			`{"k":"a","x":"s"}`, `{"k":"b","x":7}`, `{"k":"b"}`,
		},
		`{"oneOf":[{"properties":{"k":{"const":"a"},"x":{"type":"string"}},"required":["k","x"]},{"properties":{"k":{"const":"b"},"x":{"type":"integer"}},"required":["k"]}]}`: {
			`{"k":"a","x":"s"}`, `{"k":"b","x":7}`, `{"k":"b"}`,
		},
		`{"properties":{"p":{"anyOf":[{"$ref":"#/$defs/room"},{"type":"array","items":{"$ref":"#/$defs/room"}},{"type":"null"}],"description":"Where."}},"$defs":{"room":{"type":"object","properties":{"floor":{"type":"integer"},"in":{"$ref":"#/$defs/room"}},"required":["floor"]}}}`: {
			`{"p":{"floor":1}}`, `{"p":[{"floor":1,"in":{"floor":2,"in":{"floor":3}}}]}`, `{"p":null}`,
		},
		`{"properties":{"f":{"type":"string","enum":["","asc"]},"g":{"type":"array","items":[{"type":"string"},{"type":"integer"}]},"h":{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}}}]}}}`: {
			`{"f":"","g":["s",1],"h":{"a":"x"}}`, `{"f":"asc","g":[],"h":{"a":"x","b":"y","c":1}}`,
		},
		`{"properties":{"u":{"type":"string","anyOf":[{"format":"uri"},{"pattern":"^x"}]},"o":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}}}`: {
			`{"u":"https://example.com","o":{"a":"1"}}`, `{"u":"x","o":{"b":"1"}}`,
		},
		`{"properties":{"s":{"anyOf":[{"const":"auto"},{"type":"string"}]},"n":{"anyOf":[{"type":"integer"},{"type":"number"},{"type":"string","enum":["all"]}]}}}`: {
			`{"s":"anything","n":1.5}`, `{"s":"auto","n":"all"}`,
		},
	} {
		raw := toolfmt.Definitions(toolfmt.Google, []toolfmt.Tool{toolWithSchema(schema)})[0]
		declaration := decodeObject(t, raw)["functionDeclarations"].([]any)[0].(map[string]any)
		for _, complaint := range checkDefinition("google", raw) {
			t.Errorf("%s: %s", schema, complaint)
		}
		for _, args := range arguments {
			if !matchesSchema(declaration["parameters"].(map[string]any), decodeObject(t, []byte(args))) {
				t.Errorf("%s is not taken any more:\n%s\n%s", args, schema, raw)
			}
		}
	}
}
