package mcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/mcp"
)

func TestParamMismatch(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"s":{"type":"string","x-mcp-header":"S"},"i":{"type":"integer","x-mcp-header":"I"},
		"deep":{"type":"object","properties":{"b":{"type":"boolean","x-mcp-header":"B"}}},"plain":{"type":"string"}}}`)
	for _, tc := range []struct {
		arguments string
		header    map[string]string
		right     bool
	}{
		{`{}`, nil, true},
		{`{"s":null,"plain":"x"}`, nil, true},
		{`{"s":"Hello"}`, map[string]string{"S": "Hello"}, true},
		{`{"s":"Hello"}`, map[string]string{"S": "=?base64?SGVsbG8=?="}, true},
		{`{"s":"SGVsbG8="}`, map[string]string{"S": "SGVsbG8="}, true},
		{`{"i":42,"deep":{"b":true}}`, map[string]string{"I": "42.0", "B": "true"}, true},
		{`{"i":4.2e1}`, map[string]string{"I": "42"}, true},
		{`{"s":"Hello"}`, nil, false},
		{`{"s":"Hello"}`, map[string]string{"S": "hello"}, false},
		{`{"s":"Hello"}`, map[string]string{"S": "=?base64?SGVsbG8?="}, false},
		{`{"s":"42"}`, map[string]string{"S": "42.0"}, false},
		{`{"i":2}`, map[string]string{"I": "4/2"}, false},
		{`{"deep":{"b":true}}`, map[string]string{"B": "True"}, false},
		{`{}`, map[string]string{"S": "Hello"}, false},
		{`{"s":null}`, map[string]string{"S": "null"}, false},
	} {
		h := http.Header{}
		for name, value := range tc.header {
			h.Set("Mcp-Param-"+name, value)
		}
		sentence := mcp.ParamMismatch(schema, json.RawMessage(tc.arguments), h)
		if (sentence == "") != tc.right || !tc.right && !strings.HasPrefix(sentence, "The header Mcp-Param-") {
			t.Errorf("%s with %v: %q", tc.arguments, tc.header, sentence)
		}
	}
	twice := http.Header{"Mcp-Param-S": {"a", "b"}}
	if mcp.ParamMismatch(schema, json.RawMessage(`{"s":"a"}`), twice) == "" {
		t.Error("a header stands there twice")
	}
	if sentence := mcp.ParamMismatch(json.RawMessage(`{"type":"object"}`), json.RawMessage(`{}`), twice); sentence != "" {
		t.Errorf("a tool that mirrors nothing: %s", sentence)
	}
}
