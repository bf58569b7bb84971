package agentview

import (
	"encoding/json"
	"testing"
)

func TestCheckOutput_NamesTheField(t *testing.T) {
	t.Parallel()
	toolWith := func(schema string) *Tool { return &Tool{OutputSchema: json.RawMessage(schema)} }
	plain := toolWith(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	remote := toolWith(`{"type":"object","properties":{"n":{"type":"integer"},"at":{"$ref":"https://example.com/x"}},"required":["n"]}`)
	for name, tc := range map[string]struct {
		tool       *Tool
		structured string
		want       OutputCheck
	}{
		"fits":                      {plain, `{"n":1}`, OutputCheck{Checked: true}},
		"of another type":           {plain, ` {"n":"1"} `, OutputCheck{true, `The field "n" must be an integer.`}},
		"without a required field":  {plain, `{}`, OutputCheck{true, `The field "n" is missing.`}},
		"no object":                 {plain, `[1]`, OutputCheck{true, "The structured content must be an object."}},
		"null":                      {plain, `null`, OutputCheck{true, "The structured content must be an object."}},
		"missing":                   {plain, ``, OutputCheck{true, "The declared structured content is missing."}},
		"no schema":                 {&Tool{}, `{"n":1}`, OutputCheck{}},
		"beside a remote reference": {remote, `{"n":"1","at":1}`, OutputCheck{true, `The field "n" must be an integer.`}},
		"by a remote reference":     {remote, `{"n":1,"at":1}`, OutputCheck{}},
		"schema that is none":       {toolWith(`5`), `{}`, OutputCheck{}},
	} {
		if got := tc.tool.CheckOutput(t.Context(), json.RawMessage(tc.structured)); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

// A definition's schema is compiled once, also for tools that an admin renamed.
func TestCheckOutput_SchemaIsCached(t *testing.T) {
	t.Parallel()
	d := newDefinition([32]byte{1}, []byte(`{"name":"t","inputSchema":{},"outputSchema":{"type":"object","required":["n"]}}`))
	d.schemas = &schemaCache{budget: 1 << 20}
	renamed := newDefinition([32]byte{2}, d.raw)
	renamed.original = d
	for _, tool := range []*Tool{{def: d, OutputSchema: d.outputSchema}, {def: renamed, OutputSchema: renamed.outputSchema}} {
		if got := tool.CheckOutput(t.Context(), json.RawMessage(`{"n":1}`)); !got.Fits() {
			t.Errorf("%+v", got)
		}
		if got := tool.CheckOutput(t.Context(), json.RawMessage(`{}`)); got.Problem == "" {
			t.Errorf("%+v", got)
		}
	}
	if n := len(d.schemas.entries); n != 1 {
		t.Errorf("%d schemas are compiled", n)
	}
}
