package wire

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// memberRule is the rule of MCP's schema for one member.
type memberRule struct {
	name     string
	kind     valueKind
	required bool
	members  []memberRule // of an object, or of each object in a list
	enum     []string     // allowed strings; none: any
	fallback string       // written if the member is missing; empty: nothing is written
	aliases  []string     // other names under which some servers send the member, as an object
}

// valueKind is the kind of value that a member must have.
type valueKind uint8

const (
	kindText valueKind = iota
	kindName           // a tool's name, see checkName
	kindBoolean
	kindInteger  // 64 bits, without a fraction or an exponent: the Go SDK reads no other
	kindFraction // a number from 0 to 1
	kindDateTime // ISO 8601 date and time with a time zone
	kindObject
	kindTexts   // an array of strings
	kindObjects // an array of objects
	kindSchemas // an object whose values are schemas
)

// canBegin reports whether a value of the kind may begin with first.
func (k valueKind) canBegin(first byte) bool {
	switch k {
	case kindText, kindDateTime:
		return first == '"'
	case kindBoolean:
		return first == 't' || first == 'f'
	case kindInteger, kindFraction:
		return first == '-' || isDigit(first)
	case kindTexts, kindObjects:
		return first == '['
	default:
		return first == '{'
	}
}

// itemRules are the members that the official SDKs check, by kind of entry.
var itemRules = [...][]memberRule{
	ToolItem: slices.Concat([]memberRule{
		{name: "name", kind: kindName},
		{
			name: "inputSchema", kind: kindObject, required: true, fallback: `"inputSchema":{"type":"object"}`,
			aliases: []string{"schema", "input_schema"},
			members: slices.Concat([]memberRule{{name: "type", enum: []string{"object"}, fallback: `"type":"object"`}}, schemaRules),
		},
		{name: "outputSchema", kind: kindObject, members: schemaRules},
		{name: "annotations", kind: kindObject, members: []memberRule{
			{name: "title"},
			{name: "readOnlyHint", kind: kindBoolean}, {name: "destructiveHint", kind: kindBoolean},
			{name: "idempotentHint", kind: kindBoolean}, {name: "openWorldHint", kind: kindBoolean},
		}},
		{name: "execution", kind: kindObject, members: []memberRule{{name: "taskSupport", enum: []string{"required", "optional", "forbidden"}}}},
	}, commonRules),
	PromptItem: slices.Concat([]memberRule{
		{name: "name", required: true},
		{name: "arguments", kind: kindObjects, members: []memberRule{
			{name: "name", required: true}, {name: "title"}, {name: "description"}, {name: "required", kind: kindBoolean},
		}},
	}, commonRules),
	ResourceItem: slices.Concat([]memberRule{
		{name: "uri", required: true}, {name: "name", required: true}, {name: "mimeType"}, {name: "size", kind: kindInteger}, annotationsRule,
	}, commonRules),
	TemplateItem: slices.Concat([]memberRule{
		{name: "uriTemplate", required: true}, {name: "name", required: true}, {name: "mimeType"}, annotationsRule,
	}, commonRules),
}

// commonRules apply to all entries.
var commonRules = []memberRule{
	{name: "title"},
	{name: "description"},
	{name: "icons", kind: kindObjects, members: []memberRule{
		{name: "src", required: true}, {name: "mimeType"}, {name: "sizes", kind: kindTexts},
		{name: "theme", enum: []string{"light", "dark"}},
	}},
	{name: "_meta", kind: kindObject},
}

// schemaRules are the members of a tool's schemas that clients check.
var schemaRules = []memberRule{{name: "$schema"}, {name: "properties", kind: kindSchemas}, {name: "required", kind: kindTexts}}

// annotationsRule is for resources and templates.
var annotationsRule = memberRule{name: "annotations", kind: kindObject, members: []memberRule{
	{name: "audience", kind: kindTexts, enum: []string{"user", "assistant"}},
	{name: "priority", kind: kindFraction},
	{name: "lastModified", kind: kindDateTime},
}}

// isoDateTime is zod's iso.datetime with an offset, which the TypeScript SDKs use.
var isoDateTime = regexp.MustCompile(`^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:` +
	`(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))` +
	`T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|([+-](?:[01]\d|2[0-3]):[0-5]\d)))$`)

// checkContent checks a value of the right type.
func (c *itemChecker) checkContent(m *memberRule, raw []byte) {
	switch m.kind {
	case kindText, kindTexts:
		if len(m.enum) > 0 && !slices.Contains(m.enum, string(unquoteKey(raw))) {
			c.reportDefect(func(at string) string {
				return fmt.Sprintf("%q is %s; MCP allows %s.", at, shortenValue(raw), strings.Join(m.enum, ", "))
			})
		}
	case kindDateTime:
		if !isoDateTime.Match(unquoteKey(raw)) {
			c.reportDefect(func(at string) string {
				return fmt.Sprintf("%q is %s; MCP requires a date-time with time zone.", at, shortenValue(raw))
			})
		}
	case kindInteger:
		if _, err := strconv.ParseInt(string(raw), 10, 64); err != nil {
			c.reportDefect(func(at string) string {
				return fmt.Sprintf("%q is %s; MCP clients need 64-bit integers.", at, shortenValue(raw))
			})
		}
	case kindFraction:
		if n, err := strconv.ParseFloat(string(raw), 64); err != nil || n < 0 || n > 1 {
			c.reportDefect(func(at string) string {
				return fmt.Sprintf("%q is %s; MCP requires 0 to 1.", at, shortenValue(raw))
			})
		}
	}
}

// typeName is the JSON type of the kind.
func (k valueKind) typeName() string {
	switch k {
	case kindBoolean:
		return "boolean"
	case kindInteger, kindFraction:
		return "number"
	case kindTexts, kindObjects:
		return "array"
	case kindObject, kindSchemas:
		return "object"
	default:
		return "string"
	}
}

// elementTypeName is the JSON type of a list's elements.
func (k valueKind) elementTypeName() string {
	if k == kindObjects {
		return "object"
	}
	return "string"
}

// typeName is the JSON type of a value that begins with first.
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

// shortenValue cuts a long value for a defect's text.
func shortenValue(raw []byte) string {
	const long = 60
	if len(raw) <= long {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw[:long]), "") + "…"
}

// overflowsFloat reports whether a number overflows a float64, in which most programs read it.
func overflowsFloat(raw []byte) bool {
	n, err := strconv.ParseFloat(string(raw), 64)
	return err != nil && math.IsInf(n, 0)
}
