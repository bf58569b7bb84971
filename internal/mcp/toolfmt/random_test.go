package toolfmt_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"patchbay/internal/mcp/toolfmt"
)

type schemaGenerator struct{ *rand.Rand }

func (g schemaGenerator) pick(options ...any) any { return options[g.IntN(len(options))] }

func (g schemaGenerator) name() string {
	return g.pick("a", "b", "type", "items", "$top", "filter[x]", "enum", "properties", "c d", "é", "$ref").(string)
}

func (g schemaGenerator) schema(depth int) any {
	if depth <= 0 || g.IntN(12) == 0 {
		return g.pick(true, false, nil, map[string]any{}, "text", map[string]any{"type": "string"}, map[string]any{"type": "null"})
	}
	s := map[string]any{}
	for range 1 + g.IntN(4) {
		g.addKeyword(s, depth-1)
	}
	return s
}

func (g schemaGenerator) addKeyword(s map[string]any, depth int) {
	switch g.IntN(16) {
	case 0, 1:
		s["type"] = g.pick("object", "array", "string", "integer", "number", "boolean", "null", "any", "STRING", 7, nil)
	case 2:
		s["type"] = []any{g.pick("object", "array", "string"), g.pick("null", "integer", "string", "what")}
	case 3, 4, 5:
		s["properties"] = g.namedSchema(depth)
		s["required"] = g.pick([]any{g.name(), g.name()}, nil, true, []any{})
	case 6:
		s["items"] = g.pick(g.schema(depth), []any{g.schema(depth), g.schema(depth)})
	case 7:
		s["prefixItems"] = []any{g.schema(depth), g.schema(depth)}
	case 8, 9:
		s[g.pick("anyOf", "oneOf", "allOf").(string)] = g.pick([]any{g.schema(depth), g.schema(depth)}, []any{g.schema(depth)}, []any{}, nil)
	case 10:
		s["$ref"] = g.pick("#", "#/$defs/a", "#/$defs/b", "#/definitions/a", "#/properties/a", "#/nowhere", "other.json", "#anchor", "#/anyOf/0", 3)
	case 11:
		s[g.pick("$defs", "definitions").(string)] = g.namedSchema(depth)
	case 12:
		s["enum"] = g.pick([]any{"x", "y"}, []any{1, 2.5}, []any{"", nil, true}, []any{}, []any{map[string]any{}, []any{}})
	case 13:
		s["const"] = g.pick("x", 1, nil, true, "")
	case 14:
		s[g.pick("minimum", "exclusiveMinimum", "maxLength", "minItems", "maxProperties", "multipleOf").(string)] = g.pick(1, -1, 1.5, true, "1", 9007199254740993)
	case 15:
		s[g.pick("description", "format", "pattern", "default", "nullable", "additionalProperties", "not").(string)] =
			g.pick("date-time", "int64", "^(a", true, 3, nil, map[string]any{"type": "string"})
	}
}

func (g schemaGenerator) namedSchema(depth int) any {
	m := map[string]any{}
	for range g.IntN(4) {
		m[g.name()] = g.schema(depth)
	}
	return m
}

func TestDefinitions_RandomSchemasStayInSubset(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1_500) {
		g := schemaGenerator{rand.New(rand.NewPCG(seed, 1))}
		schema, err := json.Marshal(g.schema(2 + g.IntN(4)))
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range formats[1:] {
			tool := toolWithSchema(string(schema))
			raw := toolfmt.Definitions(format, []toolfmt.Tool{tool})[0]
			for _, complaint := range checkDefinition(string(format), raw) {
				t.Errorf("seed %d, %s: %s\n%s\n%s", seed, format, complaint, schema, raw)
			}
			again := toolfmt.Definitions(format, []toolfmt.Tool{tool})[0]
			if string(raw) != string(again) {
				t.Errorf("seed %d, %s: not the same twice\n%s\n%s", seed, format, raw, again)
			}
		}
		if t.Failed() {
			t.Fatal(fmt.Sprint("seed ", seed))
		}
	}
}
