package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"patchbay/internal/mcp"
)

func TestExtensions(t *testing.T) {
	t.Parallel()
	deep := func(levels int) string {
		return `{"x/y":{"a":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `}}`
	}
	for name, tc := range map[string]struct{ capabilities, want string }{
		"none":             {`{}`, `null`},
		"not capabilities": {`[]`, `null`},
		"not an object":    {`{"extensions":[1]}`, `null`},
		"one form":         {`{"extensions":{"b/x":{ "z":1e2, "a":[ {"c":1,"b":2} ] },"a/x":{}}}`, `{"a/x":{},"b/x":{"a":[{"b":2,"c":1}],"z":1e2}}`},
		"no settings":      {`{"extensions":{"a/x":true,"b/x":{},"c/x":null}}`, `{"b/x":{}}`},
		"tasks":            {`{"extensions":{"io.modelcontextprotocol/tasks":{},"io.modelcontextprotocol/ui":{}}}`, `{"io.modelcontextprotocol/ui":{}}`},
		"the last of two":  {`{"extensions":{"a/x":{"a":1,"a":2}}}`, `{"a/x":{"a":2}}`},
		"large numbers":    {`{"extensions":{"a/x":{"n":12345678901234567890.5}}}`, `{"a/x":{"n":12345678901234567890.5}}`},
		"deep":             {`{"extensions":` + deep(15) + `}`, deep(15)},
		"too deep":         {`{"extensions":` + deep(16) + `}`, `null`},
		"large":            {`{"extensions":{"a/x":{"n":"` + strings.Repeat("a", 900) + `"}}}`, `{"a/x":{"n":"` + strings.Repeat("a", 900) + `"}}`},
		"too large":        {`{"extensions":{"a/x":{"n":"` + strings.Repeat("a", 1024) + `"}}}`, `null`},
	} {
		if got, _ := json.Marshal(mcp.Extensions([]byte(tc.capabilities), 1024)); string(got) != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
