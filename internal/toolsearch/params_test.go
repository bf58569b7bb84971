package toolsearch_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/toolsearch"
)

func TestReadParams_ReadsNestedProperties(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","required":["a"],"properties":{
		"zone": {"type":"string","description":"Where \"it\" is","enum":["north pole","south",3,null]},
		"filter": {"type":"object","properties":{"state":{"description":"State"}}},
		"rows": {"type":"array","items":{"type":"object","properties":{"column":{"description":"Name of it"}}}},
		"kinds": {"type":"array","items":{"enum":["x1","x2"]}},
		"b": {"anyOf":[{"type":"null"},{"properties":{"inner":{}}}]}}}`
	got := toolsearch.ReadParams([]byte(schema))
	want := []toolsearch.Param{
		{Name: "zone", Description: "Where \"it\" is\nnorth pole south"},
		{Name: "filter"}, {Name: "rows"}, {Name: "kinds", Description: "x1 x2"}, {Name: "b"},
		{Name: "state", Description: "State"}, {Name: "column", Description: "Name of it"}, {Name: "inner"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestReadParams_Bounded(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(`"p":{"description":"`+strings.Repeat("x", 15)+`"},`, 5000)
	deep := strings.Repeat(`{"properties":{"p":`, 5000) + "1" + strings.Repeat("}}", 5000)
	for name, schema := range map[string]string{
		"many properties": `{"properties":{` + many + `"q":{}}}`,
		"deep":            deep,
		"branches":        `{"anyOf":[` + strings.Repeat(`{"anyOf":[{}]},`, 9000) + `{}]}`,
		"long text":       `{"properties":{"p":{"description":"` + strings.Repeat("word ", 9000) + `"}}}`,
		"above the limit": `{"properties":{"p":{"description":"` + strings.Repeat("word ", 90000) + `"}}}`,
	} {
		params := toolsearch.ReadParams([]byte(schema))
		if len(params) > 64 {
			t.Errorf("%s: %d parameters", name, len(params))
		}
		for _, p := range params {
			if len(p.Name) > 256 || len(p.Description) > 1024 {
				t.Errorf("%s: a name of %d and a description of %d bytes", name, len(p.Name), len(p.Description))
			}
		}
	}
}

// FuzzReadParams compares the top-level names with those that encoding/json finds.
func FuzzReadParams(f *testing.F) {
	for _, seed := range []string{
		`{"properties":{"a":{"description":"b\u00e9","enum":["c"]}}}`, `{"properties":{"a":{"items":{"properties":{"b":true}}}}}`,
		`{"properties":{"a":`, `{"properties":[1]}`, `[]`, `{"a":1,}`, "{\"properties\" : {\n\"a\":-1.5e3 , \"b\" : null}}", `{"properties":{"\u0061":{}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		got := toolsearch.ReadParams(schema)
		if len(got) > 64 {
			t.Fatalf("%d parameters", len(got))
		}
		var want struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if json.Unmarshal(schema, &want) != nil || len(want.Properties) > 20 {
			return
		}
		for name := range want.Properties {
			if !slices.ContainsFunc(got, func(p toolsearch.Param) bool { return p.Name == name }) && len(got) < 64 && len(name) < 256 && isPlainKey(schema) {
				t.Fatalf("%q lacks %q", got, name)
			}
		}
	})
}

// isPlainKey reports whether encoding/json and ReadParams agree on which member is "properties": encoding/json also
// takes "Properties", and the last of several.
func isPlainKey(schema []byte) bool {
	lower := strings.ToLower(string(schema))
	return strings.Count(lower, "propertie") == 1 && strings.Contains(string(schema), `"properties"`) && json.Valid(schema) && !strings.Contains(lower, `\`) && isASCIIText(lower)
}

func isASCIIText(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 127 })
}
