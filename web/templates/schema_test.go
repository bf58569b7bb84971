package templates_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/web/templates"
)

func TestParamsReadASchemaInItsOwnOrder(t *testing.T) {
	t.Parallel()
	got := templates.Params([]byte(`{
		"type": "object",
		"required": ["repo"],
		"properties": {
			"repo": {"type": "string", "description": "Repository name"},
			"count": {"type": "integer", "minimum": 1, "maximum": 9007199254740993, "default": 20},
			"order": {"enum": ["asc", "desc"]},
			"labels": {"type": "array", "items": {"type": "string"}},
			"filter": {"type": "object", "properties": {"since": {"type": ["string", "null"], "format": "date"}}},
			"rows": {"type": "array", "items": {"type": "object", "properties": {"id": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}}
		}
	}`))
	want := []templates.Param{
		{Name: "repo", Type: "string", Required: true, Description: "Repository name"},
		{Name: "count", Type: "integer", Notes: []string{"default 20", "1 to 9007199254740993"}},
		{Name: "order", Type: "enum", Notes: []string{"one of asc, desc"}},
		{Name: "labels", Type: "array of string"},
		{Name: "filter", Type: "object"},
		{Name: "filter.since", Type: "string or null", Notes: []string{"format date"}},
		{Name: "rows", Type: "array of object"},
		{Name: "rows[].id", Type: "string or integer"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParamsOutliveASchemaThatMakesNoSense(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{``, `null`, `[]`, `"x"`, `{"properties": []}`, `{"properties": {"a": 1}, "required": "a"}`, `{"properties": {"a": {"type": 5, "description": {}}}}`} {
		for _, p := range templates.Params([]byte(schema)) {
			if p.Name != "a" {
				t.Errorf("schema %s: parameter %q", schema, p.Name)
			}
		}
	}
}

func TestParamsOfADeepSchemaEnd(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"properties":{"a":`, 100) + `{}` + strings.Repeat(`}}`, 100)
	if n := len(templates.Params([]byte(deep))); n > 10 {
		t.Errorf("a schema 100 levels deep gave %d rows", n)
	}
	lists := `{"properties":{"a":` + strings.Repeat(`{"type":"array","items":`, 1000) + `{}` + strings.Repeat(`}`, 1000) + `}}`
	if n := len(templates.Params([]byte(lists))); n != 1 {
		t.Errorf("lists 1000 levels deep gave %d rows", n)
	}
}

func TestIndentJSONKeepsNumbersAndOrder(t *testing.T) {
	t.Parallel()
	got := templates.IndentJSON([]byte(`{"b":9007199254740993,"a":1.50}`))
	want := "{\n  \"b\": 9007199254740993,\n  \"a\": 1.50\n}"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
