package wire

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// member is a member of an object as MCP's schema describes it.
type member struct {
	name     string
	kind     valueKind
	required bool
	members  []member // of an object, or of each object in a list
	choices  []string // that a string may be; none: any
	missing  string   // how the member is written where it is not there; empty: it may be left out, or must not be
}

// valueKind is what a value must be.
type valueKind uint8

const (
	text     valueKind = iota
	nameText           // the name of a tool, judged by judgeName
	flag
	whole    // a number that fits 64 bits, written without a fraction or an exponent: the Go SDK reads no other
	fraction // a number from 0 to 1
	moment   // a date and time of ISO 8601 with a time zone
	object
	texts   // an array of strings
	objects // an array of objects
	schemas // an object whose values are schemas
)

// begins reports whether a value of the kind may begin with that byte.
func (k valueKind) begins(first byte) bool {
	switch k {
	case text, moment:
		return first == '"'
	case flag:
		return first == 't' || first == 'f'
	case whole, fraction:
		return first == '-' || isDigit(first)
	case texts, objects:
		return first == '['
	default:
		return first == '{'
	}
}

// items are the members that the official SDKs look at, by the kind of entry.
var items = [...][]member{
	ToolItem: slices.Concat([]member{
		{name: "name", kind: nameText},
		{name: "inputSchema", kind: object, required: true, missing: `"inputSchema":{"type":"object"}`, members: slices.Concat([]member{
			{name: "type", choices: []string{"object"}, missing: `"type":"object"`},
		}, schemaMembers)},
		{name: "outputSchema", kind: object, members: schemaMembers},
		{name: "annotations", kind: object, members: []member{
			{name: "title"},
			{name: "readOnlyHint", kind: flag}, {name: "destructiveHint", kind: flag},
			{name: "idempotentHint", kind: flag}, {name: "openWorldHint", kind: flag},
		}},
		{name: "execution", kind: object, members: []member{{name: "taskSupport", choices: []string{"required", "optional", "forbidden"}}}},
	}, common),
	PromptItem: slices.Concat([]member{
		{name: "name", required: true},
		{name: "arguments", kind: objects, members: []member{
			{name: "name", required: true}, {name: "title"}, {name: "description"}, {name: "required", kind: flag},
		}},
	}, common),
	ResourceItem: slices.Concat([]member{
		{name: "uri", required: true}, {name: "name", required: true}, {name: "mimeType"}, {name: "size", kind: whole}, annotated,
	}, common),
	TemplateItem: slices.Concat([]member{
		{name: "uriTemplate", required: true}, {name: "name", required: true}, {name: "mimeType"}, annotated,
	}, common),
}

// common are members of all entries.
var common = []member{
	{name: "title"},
	{name: "description"},
	{name: "icons", kind: objects, members: []member{
		{name: "src", required: true}, {name: "mimeType"}, {name: "sizes", kind: texts},
		{name: "theme", choices: []string{"light", "dark"}},
	}},
	{name: "_meta", kind: object},
}

// schemaMembers are those of a tool's schemas that clients look at when they read a list.
var schemaMembers = []member{{name: "$schema"}, {name: "properties", kind: schemas}, {name: "required", kind: texts}}

// annotated are the annotations of resources and templates.
var annotated = member{name: "annotations", kind: object, members: []member{
	{name: "audience", kind: texts, choices: []string{"user", "assistant"}},
	{name: "priority", kind: fraction},
	{name: "lastModified", kind: moment},
}}

// isoTime is what the TypeScript SDKs take for a date and time: the pattern of zod's iso.datetime with an offset.
var isoTime = regexp.MustCompile(`^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:` +
	`(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))` +
	`T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|([+-](?:[01]\d|2[0-3]):[0-5]\d)))$`)

// judge compares a value of the right type with what m allows.
func (c *checker) judge(m *member, raw []byte) {
	switch m.kind {
	case text, texts:
		if len(m.choices) > 0 && !slices.Contains(m.choices, string(keyOf(raw))) {
			c.wrong(func(at string) string {
				return fmt.Sprintf("The member %q is %s; MCP allows %s.", at, shown(raw), strings.Join(m.choices, ", "))
			})
		}
	case moment:
		if !isoTime.Match(keyOf(raw)) {
			c.wrong(func(at string) string {
				return fmt.Sprintf("The member %q is %s; MCP requires a date and time with a time zone.", at, shown(raw))
			})
		}
	case whole:
		if _, err := strconv.ParseInt(string(raw), 10, 64); err != nil {
			c.wrong(func(at string) string {
				return fmt.Sprintf("The member %q is %s; MCP clients read whole numbers of 64 bits.", at, shown(raw))
			})
		}
	case fraction:
		if n, err := strconv.ParseFloat(string(raw), 64); err != nil || n < 0 || n > 1 {
			c.wrong(func(at string) string {
				return fmt.Sprintf("The member %q is %s; MCP requires a number from 0 to 1.", at, shown(raw))
			})
		}
	}
}

// typeName is the JSON type that a value of the kind has.
func (k valueKind) typeName() string {
	switch k {
	case flag:
		return "boolean"
	case whole, fraction:
		return "number"
	case texts, objects:
		return "array"
	case object, schemas:
		return "object"
	default:
		return "string"
	}
}

// elementTypeName is the JSON type that the elements of a list have.
func (k valueKind) elementTypeName() string {
	if k == objects {
		return "object"
	}
	return "string"
}

// typeName is the JSON type of a value that begins with that byte.
func typeName(first byte) string {
	switch first {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// shown is a value as a reason shows it: its beginning, where it is long.
func shown(raw []byte) string {
	const long = 60
	if len(raw) <= long {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw[:long]), "") + "…"
}

// overflows reports whether a number is too large for 64-bit floating point, in which nearly every program reads it.
func overflows(raw []byte) bool {
	n, err := strconv.ParseFloat(string(raw), 64)
	return err != nil && math.IsInf(n, 0)
}
