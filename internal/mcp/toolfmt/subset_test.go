package toolfmt_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Checkers of what each provider accepts, from its reference and its known 400 responses.

var (
	modelName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	anthropicKey = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
)

type violations []string

func (c *violations) add(at, format string, args ...any) {
	*c = append(*c, at+": "+fmt.Sprintf(format, args...))
}

func checkDefinition(format string, raw []byte) violations {
	var c violations
	if !json.Valid(raw) || !utf8.Valid(raw) {
		return violations{"no JSON in UTF-8"}
	}
	var tool map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&tool); err != nil {
		return violations{err.Error()}
	}
	switch format {
	case "mcp":
		c.checkTexts("", tool["name"], "", -1)
	case "openai":
		function, _ := tool["function"].(map[string]any)
		if tool["type"] != "function" || len(tool) != 2 || len(function) != 3 {
			c.add("", "not an OpenAI function: %v", sortedKeys(tool))
		}
		c.checkTexts("function", function["name"], function["description"], 1024)
		c.checkJSONSchema(function["parameters"], []string{"oneOf", "anyOf", "allOf", "enum", "not"})
		c.checkArrayItems("parameters", function["parameters"], 0)
	case "anthropic":
		if len(tool) != 3 {
			c.add("", "not an Anthropic tool: %v", sortedKeys(tool))
		}
		c.checkTexts("", tool["name"], tool["description"], 16<<10)
		c.checkJSONSchema(tool["input_schema"], []string{"oneOf", "anyOf", "allOf"})
		schema, _ := tool["input_schema"].(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		for name := range properties {
			if !anthropicKey.MatchString(name) {
				c.add("input_schema", "property %q", name)
			}
		}
	case "google":
		declarations, _ := tool["functionDeclarations"].([]any)
		if len(tool) != 1 || len(declarations) == 0 {
			c.add("", "not a Google tool: %v", sortedKeys(tool))
		}
		for _, d := range declarations {
			c.checkDeclaration(d.(map[string]any))
		}
	}
	return c
}

func (c *violations) checkTexts(at string, name, description any, limit int) {
	if s, _ := name.(string); !modelName.MatchString(s) {
		c.add(at, "name %v", name)
	}
	s, _ := description.(string)
	if limit >= 0 && (s == "" || utf8.RuneCountInString(s) > limit) {
		c.add(at, "a description of %d characters", utf8.RuneCountInString(s))
	}
}

func (c *violations) checkJSONSchema(v any, refused []string) {
	schema, ok := v.(map[string]any)
	if !ok || schema["type"] != "object" {
		c.add("schema", "not of type object")
		return
	}
	if _, ok := schema["properties"].(map[string]any); !ok {
		c.add("schema", "no properties")
	}
	for _, word := range refused {
		if _, there := schema[word]; there {
			c.add("schema", "%s at the top", word)
		}
	}
}

// checkArrayItems walks every subschema: the values of properties and of schema keywords.
func (c *violations) checkArrayItems(at string, v any, depth int) {
	schema, ok := v.(map[string]any)
	if !ok {
		return
	}
	if schema["type"] == "array" && schema["items"] == nil {
		c.add(at, "an array without items")
	}
	for _, word := range []string{"properties", "$defs", "definitions"} {
		named, _ := schema[word].(map[string]any)
		for name, inner := range named {
			c.checkArrayItems(at+"."+name, inner, depth+1)
		}
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := schema[word].([]any)
		for i, inner := range list {
			c.checkArrayItems(fmt.Sprintf("%s.%s[%d]", at, word, i), inner, depth+1)
		}
	}
	c.checkArrayItems(at+".items", schema["items"], depth+1)
}

func (c *violations) checkDeclaration(d map[string]any) {
	c.checkTexts("declaration", d["name"], d["description"], 16<<10)
	for key := range d {
		if !slices.Contains([]string{"name", "description", "parameters"}, key) {
			c.add("declaration", "unknown name %q", key)
		}
	}
	schema, there := d["parameters"].(map[string]any)
	if !there {
		return
	}
	if schema["type"] != "object" {
		c.add("parameters", "type %v", schema["type"])
	}
	if properties, _ := schema["properties"].(map[string]any); len(properties) == 0 {
		c.add("parameters", "no properties")
	}
	c.checkGoogle("parameters", schema, 0)
}

// googleFields are the fields of Google's Schema that are used, with their types (empty: all).
var googleFields = map[string]string{
	"type": "", "description": "", "nullable": "", "format": "string number integer", "enum": "string", "pattern": "string",
	"minLength": "string", "maxLength": "string", "minimum": "number integer", "maximum": "number integer",
	"items": "array", "minItems": "array", "maxItems": "array",
	"properties": "object", "required": "object", "minProperties": "object", "maxProperties": "object",
}

var googleFormats = map[string]string{
	"date-time": "string", "enum": "string", "float": "number", "double": "number", "int32": "integer", "int64": "integer",
}

func (c *violations) checkGoogle(at string, schema map[string]any, depth int) {
	if depth > 10 {
		c.add(at, "nested too deeply")
		return
	}
	if list, there := schema["anyOf"]; there {
		alternatives, _ := list.([]any)
		if len(schema) != 1 || len(alternatives) < 2 {
			c.add(at, "anyOf with %d alternatives beside %v", len(alternatives), sortedKeys(schema))
		}
		for i, inner := range alternatives {
			c.checkGoogle(fmt.Sprintf("%s.anyOf[%d]", at, i), inner.(map[string]any), depth)
		}
		return
	}
	typ, _ := schema["type"].(string)
	if !slices.Contains([]string{"string", "number", "integer", "boolean", "array", "object"}, typ) {
		c.add(at, "type %v", schema["type"])
	}
	for word := range schema {
		of, known := googleFields[word]
		if !known {
			c.add(at, "unknown name %q", word)
		} else if of != "" && !slices.Contains(strings.Fields(of), typ) {
			c.add(at, "%s of type %s", word, typ)
		}
	}
	if format, there := schema["format"].(string); there && googleFormats[format] != typ {
		c.add(at, "format %s of type %s", format, typ)
	}
	c.checkGoogleType(at, schema, typ, depth)
}

func (c *violations) checkGoogleType(at string, schema map[string]any, typ string, depth int) {
	if list, there := schema["enum"].([]any); there {
		for _, item := range list {
			if s, _ := item.(string); s == "" {
				c.add(at, "enum has %v", item)
			}
		}
		if len(list) == 0 || len(list) > 500 {
			c.add(at, "enum of %d", len(list))
		}
	}
	if typ == "array" {
		items, ok := schema["items"].(map[string]any)
		if !ok {
			c.add(at, "items: missing field")
			return
		}
		c.checkGoogle(at+".items", items, depth+1)
	}
	properties, _ := schema["properties"].(map[string]any)
	if _, there := schema["properties"]; there && len(properties) == 0 {
		c.add(at, "properties: should be non-empty")
	}
	for name, inner := range properties {
		c.checkGoogle(at+"."+name, inner.(map[string]any), depth+1)
	}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if properties[name.(string)] == nil {
			c.add(at, "required %v is not defined", name)
		}
	}
}

func sortedKeys(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
