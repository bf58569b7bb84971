package agentview

import (
	"encoding/json"
	"testing"

	"patchbay/internal/connectors"
)

func TestAppendRenamed_ChangesOnlyNameValues(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"name":"a"}`:                          `{"name":"x\"y"}`,
		"\t{ \"name\" : \"a\" , \"n\":1.50 }\n": "\t{ \"name\" : \"x\\\"y\" , \"n\":1.50 }\n",
		`{"name":"a","name":"b"}`:               `{"name":"x\"y","name":"x\"y"}`,
		`{"n\u0061me":"a"}`:                     `{"n\u0061me":"x\"y"}`,
		`{"Name":"a","name":"b"}`:               `{"Name":"a","name":"x\"y"}`,
		`{"in":{"name":"a"},"name":"b"}`:        `{"in":{"name":"a"},"name":"x\"y"}`,
		`{"s":"\"name\":\"a\"","name":"b"}`:     `{"s":"\"name\":\"a\"","name":"x\"y"}`,
		"{\"d\":\"\xff\u2028\",\"name\":\"b\"}": "{\"d\":\"\xff\u2028\",\"name\":\"x\\\"y\"}",
	} {
		d := newDefinition(connectors.HashDefinition([]byte(raw)), []byte(raw))
		if got := string(appendRenamed(nil, d.raw, d.names, `x"y`)); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

func TestNewDefinition_PartsAliasRaw(t *testing.T) {
	t.Parallel()
	raw := []byte(`{"name":"a","inputSchema":{"x":1},"inputSchema" : {"type":"object"},"outputSchema":null,"annotations":{"readOnlyHint":true}}`)
	d := newDefinition(connectors.HashDefinition(raw), raw)
	if string(d.inputSchema) != `{"type":"object"}` || d.outputSchema != nil || string(d.annotations) != `{"readOnlyHint":true}` {
		t.Errorf("%s, %s, %s", d.inputSchema, d.outputSchema, d.annotations)
	}
	if d.hints.ReadOnly == nil || !*d.hints.ReadOnly {
		t.Error("the hint is lost")
	}
}

// A definition that cannot be renamed must not be listed: it could take another connector's name.
func TestForEachMember_IgnoresNonObjects(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{``, `[]`, `"name"`, `{`, `{"name"`, `{"name":`, `{"a":1}`} {
		if d := newDefinition(connectors.Hash{}, []byte(raw)); len(d.names) > 0 {
			t.Errorf("%s: %v", raw, d.names)
		}
	}
}

// FuzzRenamed checks that a renamed definition reads back with its new name.
func FuzzRenamed(f *testing.F) {
	f.Add([]byte(`{"name":"a","inputSchema":{"name":"b"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := newDefinition(connectors.Hash{}, raw)
		if len(d.names) == 0 || !json.Valid(raw) {
			return
		}
		out := appendRenamed(nil, raw, d.names, "mcp_c__x")
		if got := connectors.DecodeTool(out).Name; got != "mcp_c__x" {
			t.Errorf("%s became %s: %q", raw, out, got)
		}
	})
}
