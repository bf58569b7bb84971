package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"patchbay/internal/mcp/wire"
)

// Each row has one member that official SDKs refuse, and the shown defect.
func TestCheckItemNamesTheDefect(t *testing.T) {
	t.Parallel()
	const tool, prompt, resource, template = wire.ToolItem, wire.PromptItem, wire.ResourceItem, wire.TemplateItem
	mistyped := func(at, is, want string) string {
		return fmt.Sprintf("%q has JSON type %s; MCP requires %s.", at, is, want)
	}
	keys := map[wire.ItemKind]string{
		tool: `"name":"a",`, prompt: `"name":"a",`, resource: `"uri":"u:a","name":"a",`, template: `"uriTemplate":"u:{a}","name":"a",`,
	}
	for _, tc := range []struct {
		kind   wire.ItemKind
		member string
		defect string
	}{
		{tool, `"title":7`, mistyped("title", "number", "string")},
		{tool, `"description":7`, mistyped("description", "number", "string")},
		{tool, `"description":7,"description":"d"`, mistyped("description", "number", "string")},
		{tool, `"description":"d","descr\u0069ption":[]`, mistyped("description", "array", "string")},
		{tool, `"annotations":"read"`, mistyped("annotations", "string", "object")},
		{tool, `"annotations":{"readOnlyHint":"true"}`, mistyped("annotations.readOnlyHint", "string", "boolean")},
		{tool, `"annotations":{"destructiveHint":1}`, mistyped("annotations.destructiveHint", "number", "boolean")},
		{tool, `"annotations":{"title":false}`, mistyped("annotations.title", "boolean", "string")},
		{tool, `"icons":{}`, mistyped("icons", "object", "array")},
		{tool, `"icons":["i"]`, mistyped("icons[0]", "string", "object")},
		{tool, `"icons":[{"src":"i"},null]`, mistyped("icons[1]", "null", "object")},
		{tool, `"icons":[{}]`, `Missing "icons[0].src", which MCP requires.`},
		{tool, `"icons":[{"src":"i","sizes":"48x48"}]`, mistyped("icons[0].sizes", "string", "array")},
		{tool, `"icons":[{"src":"i","sizes":["any",48]}]`, mistyped("icons[0].sizes[1]", "number", "string")},
		{tool, `"icons":[{"src":"i","theme":"blue"}]`, `"icons[0].theme" is "blue"; MCP allows light, dark.`},
		{tool, `"_meta":"m"`, mistyped("_meta", "string", "object")},
		{tool, `"_meta":{"x":-1e400}`, "The entry contains the number -1e400, which is too large for most programs."},
		{tool, `"_meta":{"x":` + strings.Repeat("9", 309) + `}`, "The entry contains the number " + strings.Repeat("9", 60) + "…, which is too large for most programs."},
		{tool, `"execution":{"taskSupport":"always"}`, `"execution.taskSupport" is "always"; MCP allows required, optional, forbidden.`},
		{tool, `"outputSchema":"{}"`, mistyped("outputSchema", "string", "object")},
		{tool, `"outputSchema":{"$schema":7}`, mistyped("outputSchema.$schema", "number", "string")},
		{tool, `"inputSchema":{"type":"array"}`, `"inputSchema.type" is "array"; MCP allows object.`},
		{tool, `"inputSchema":{"properties":{"p":null}}`, mistyped("inputSchema.properties.p", "null", "object")},
		{tool, `"inputSchema":{"required":["p",7]}`, mistyped("inputSchema.required[1]", "number", "string")},
		{tool, `"inputSchema":null`, "The inputSchema isn't an object."},
		{tool, `"name":7,"name":"a"`, "The name isn't a string."},
		{tool, `"title":null,"x":1e300`, ""},
		{prompt, `"name":7`, mistyped("name", "number", "string")},
		{prompt, `"arguments":{}`, mistyped("arguments", "object", "array")},
		{prompt, `"arguments":[{"title":"t"}]`, `Missing "arguments[0].name", which MCP requires.`},
		{prompt, `"arguments":[{"name":"n","required":"yes"}]`, mistyped("arguments[0].required", "string", "boolean")},
		{resource, `"uri":7`, mistyped("uri", "number", "string")},
		{resource, `"size":1.5`, `"size" is 1.5; MCP clients need 64-bit integers.`},
		{resource, `"annotations":{"audience":["admin"]}`, `"annotations.audience[0]" is "admin"; MCP allows user, assistant.`},
		{resource, `"annotations":{"priority":1.1}`, `"annotations.priority" is 1.1; MCP requires 0 to 1.`},
		{resource, `"annotations":{"lastModified":"2025-01-12T15:00:58"}`, `"annotations.lastModified" is "2025-01-12T15:00:58"; MCP requires a date-time with time zone.`},
		{resource, `"annotations":{"lastModified":"2024-02-29T23:59:59.1+01:00"}`, ""},
		{template, `"uriTemplate":{}`, mistyped("uriTemplate", "object", "string")},
	} {
		if shape := wire.CheckItem(tc.kind, []byte("{"+keys[tc.kind]+tc.member+"}")); shape.Defect != tc.defect {
			t.Errorf("%s:\n have %s\n want %s", tc.member, shape.Defect, tc.defect)
		}
	}
}

func TestShapeAppliesEdits(t *testing.T) {
	t.Parallel()
	const typed = `"inputSchema":{"type":"object"}`
	for raw, want := range map[string]string{
		`{"name":"a"}`:                                            `{"name":"a",` + typed + `}`,
		`{"name":"a","inputSchema":{}}`:                           `{"name":"a",` + typed + `}`,
		`{"name":"a","inputSchema":{"type":null}}`:                `{"name":"a",` + typed + `}`,
		`{"title":null,"name":"a",` + typed + `}`:                 `{"name":"a",` + typed + `}`,
		`{"name":"a",` + typed + `,"icons":null}`:                 `{"name":"a",` + typed + `}`,
		`{"title":null,"_meta":null,"name":"a"}`:                  `{"name":"a",` + typed + `}`,
		`{"schema":{},"name":"a"}`:                                `{` + typed + `,"name":"a"}`,
		`{"name":"a", "input_schema" :{"type":null}}`:             `{"name":"a",` + typed + `}`,
		`{"schema":{"x":1},"name":"a",` + typed + `}`:             `{"schema":{"x":1},"name":"a",` + typed + `}`,
		`{"schema":7,"name":"a"}`:                                 `{"schema":7,"name":"a",` + typed + `}`,
		`{"name":"a",` + typed + `,"x":null}`:                     `{"name":"a",` + typed + `,"x":null}`,
		`{"name":"a","inputSchema":{"x":1e2}}`:                    `{"name":"a","inputSchema":{"x":1e2,"type":"object"}}`,
		`{"name":"a",` + typed + `,"annotations":{"title":null}}`: `{"name":"a",` + typed + `,"annotations":{}}`,
		`{"name":"a","inputSchema":{"type":"object","properties":{"p":true,"q":false},"required":null}}`: `{"name":"a","inputSchema":{"type":"object","properties":{"p":{},"q":{"not":{}}}}}`,
	} {
		shape := wire.CheckItem(wire.ToolItem, []byte(raw))
		have := string(shape.Apply([]byte(raw)))
		if shape.Defect != "" || have != want {
			t.Errorf("%s: %s, %s", raw, have, shape.Defect)
		}
		if again := wire.CheckItem(wire.ToolItem, []byte(have)); again.Defect != "" || len(again.Edits) > 0 {
			t.Errorf("%s: once more %+v", have, again)
		}
	}
}

func TestCheckItem_NoItem(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		``: "Not valid JSON.", `null`: "Not an object.", `{`: "Not valid JSON.",
		`{"uri":"u"}}`: "Not valid JSON.", "{\"uri\":\"\xff\"}": "Not valid UTF-8.",
		`{"uri":` + strings.Repeat("[", 9999): "Nested too deeply.",
	} {
		if have := wire.CheckItem(wire.ResourceItem, []byte(raw)).Defect; have != want {
			t.Errorf("%.20q: %s, want %s", raw, have, want)
		}
	}
}
