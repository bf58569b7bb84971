package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"patchbay/internal/mcp/wire"
)

// FuzzParamHeaders: each mirrored header is named by the schema, holds text of the arguments, and contains no
// line end.
func FuzzParamHeaders(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`, `{"region":"eu\r\nAuthorization: x"}`},
		{`{"properties":{"a":{"properties":{"b":{"type":["integer","null"],"x-mcp-header":"B"}}}}}`, `{"a":{"b":4.2e1}}`},
		{`{"properties":{"a":{"type":"boolean","x-mcp-header":"A\r\nB"}}}`, `{"a":true}`},
		{`{"properties":{"a":{"type":"string","x-mcp-header":"x"},"b":{"type":"string","x-mcp-header":"X"}}}`, `{"a":"1","b":"2"}`},
		{`{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}`, `{"a":"=?base64?eA==?="}`},
		{`{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}`, `{"a":" x ","a":"größe"}`},
		{`{"items":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`, `[{"a":"x"}]`},
		{`{"properties":{"a":{"type":"integer","x-mcp-header":"A"}}}`, `{"a":1e999999999}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, schema, arguments []byte) {
		all := paramHeaders(schema, arguments)
		if len(all) > 0 && findHeaderDefect(wire.Object([]wire.Member{{Name: "inputSchema", Value: schema}})) != "" && json.Valid(schema) {
			t.Errorf("%q has a defect, and %v", schema, all)
		}
		held := findStrings(arguments)
		for name, values := range all {
			token, ok := strings.CutPrefix(name, "Mcp-Param-")
			if !ok || token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' }) || len(values) != 1 {
				t.Fatalf("%q has the header %q: %q", schema, name, values)
			}
			if strings.ContainsFunc(values[0], func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("%q is sent as %q", arguments, values[0])
			}
			if text, ok := wire.HeaderText(values[0]); !ok || !held[text] {
				t.Errorf("%q is sent as %q, which is %q, %v", arguments, values[0], text, ok)
			}
		}
	})
}

// findStrings returns all strings, numbers and booleans of a document as header values.
func findStrings(raw []byte) map[string]bool {
	all := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, inside := range v {
				walk(inside)
			}
		case []any:
			for _, inside := range v {
				walk(inside)
			}
		case string:
			all[v] = true
		case bool:
			all[map[bool]string{true: "true", false: "false"}[v]] = true
		case json.Number:
			all[normalizeInteger(v)] = true
		}
	}
	v, _ := decodeJSON(raw)
	walk(v)
	return all
}
