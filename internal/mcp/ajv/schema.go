package ajv

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

const (
	maxDepth   = 64      // of the schema
	maxSize    = 1 << 20 // bytes
	maxVisited = 100_000 // visited schemas, counted again for each reference
)

// Compiles reports whether Ajv certainly compiles the schema and its type is object, as MCP before 2026-07-28
// requires.
func Compiles(schema []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	var root map[string]any
	if len(schema) > maxSize || dec.Decode(&root) != nil || root["type"] != "object" {
		return false
	}
	j := schemaChecker{root: root, followed: map[string]bool{"#": true}}
	return j.isPlain(root, 0) && j.canCompile(root)
}

// schemaChecker checks one schema.
type schemaChecker struct {
	root     map[string]any
	followed map[string]bool // references that were followed
	visited  int             // number of visited schemas
}

// identifierKeywords change or define what references mean. One Ajv compiles the schemas of all tools, where
// these could conflict.
var identifierKeywords = []string{"$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$dynamicRef", "$recursiveRef", "__proto__"}

// isPlain reports whether a value is not nested too deeply and defines no identifier. Ajv finds identifiers in
// unknown keywords too.
func (j *schemaChecker) isPlain(v any, depth int) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if slices.Contains(identifierKeywords, key) || depth == maxDepth || !j.isPlain(value, depth+1) {
				return false
			}
		}
	case []any:
		for _, value := range v {
			if depth == maxDepth || !j.isPlain(value, depth+1) {
				return false
			}
		}
	}
	return true
}

// canCompile reports whether Ajv compiles a schema.
func (j *schemaChecker) canCompile(v any) bool {
	if j.visited++; j.visited > maxVisited {
		return false
	}
	if _, ok := v.(bool); ok {
		return true
	}
	s, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for key, value := range s {
		if !j.acceptsKeyword(key, value) {
			return false
		}
	}
	if _, there := s["nullable"]; there && (s["nullable"] != true || s["type"] == nil) {
		return false
	}
	return true
}

// acceptsKeyword reports whether Ajv accepts a keyword's value. It ignores keywords outside draft-07.
func (j *schemaChecker) acceptsKeyword(key string, v any) bool {
	switch key {
	case "id", "$async":
		return false
	case "$ref":
		return j.canResolve(v)
	case "type":
		return isType(v)
	case "pattern":
		text, ok := v.(string)
		return ok && isValidPattern(text)
	case "format":
		return isFormat(v)
	case "enum":
		all, ok := v.([]any)
		return ok && len(all) > 0
	case "required":
		return isStringList(v)
	case "nullable", "uniqueItems":
		_, ok := v.(bool)
		return ok
	case "multipleOf", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "maxLength", "minLength", "maxProperties",
		"minProperties", "maxItems", "minItems":
		return isNumber(v)
	case "additionalItems", "contains", "propertyNames", "additionalProperties", "not", "if", "then", "else":
		return j.canCompile(v)
	case "properties", "$defs", "definitions":
		return j.isSchemaMap(v)
	case "anyOf", "oneOf", "allOf":
		return j.isSchemaList(v)
	case "items":
		return j.isSchemaList(v) || j.canCompile(v)
	case "patternProperties":
		return j.isPatternMap(v)
	case "dependencies":
		return j.isDependencyMap(v)
	}
	return true
}

// maxInteger is JavaScript's Number.MAX_SAFE_INTEGER. Zod 4 writes it as the bound of every integer.
const maxInteger = 1<<53 - 1

// isNumber refuses numbers that JavaScript cannot represent exactly.
func isNumber(v any) bool {
	n, ok := v.(json.Number)
	if integer, err := n.Int64(); err == nil {
		return ok && -maxInteger <= integer && integer <= maxInteger
	}
	return ok && len(n) <= 15 && !strings.ContainsAny(n.String(), "eE")
}

var jsonTypes = []string{"string", "number", "integer", "boolean", "null", "object", "array"}

func isType(v any) bool {
	known := func(v any) bool {
		name, ok := v.(string)
		return ok && slices.Contains(jsonTypes, name)
	}
	all, ok := v.([]any)
	if !ok {
		return known(v)
	}
	return len(all) > 0 && !slices.ContainsFunc(all, func(v any) bool { return !known(v) })
}

func isStringList(v any) bool {
	all, ok := v.([]any)
	return ok && !slices.ContainsFunc(all, func(v any) bool { _, text := v.(string); return !text })
}

var formatName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// isFormat accepts a format name; Ajv ignores unknown ones. Names of JavaScript object members are refused.
func isFormat(v any) bool {
	name, ok := v.(string)
	return ok && formatName.MatchString(name) && name != "constructor"
}

func (j *schemaChecker) isSchemaList(v any) bool {
	all, ok := v.([]any)
	return ok && len(all) > 0 && !slices.ContainsFunc(all, func(v any) bool { return !j.canCompile(v) })
}

func (j *schemaChecker) isSchemaMap(v any) bool {
	all, ok := v.(map[string]any)
	for _, value := range all {
		if ok = ok && j.canCompile(value); !ok {
			return false
		}
	}
	return ok
}

func (j *schemaChecker) isPatternMap(v any) bool {
	all, ok := v.(map[string]any)
	for pattern := range all {
		if !isValidPattern(pattern) {
			return false
		}
	}
	return ok && j.isSchemaMap(v)
}

func (j *schemaChecker) isDependencyMap(v any) bool {
	all, ok := v.(map[string]any)
	for _, value := range all {
		if !isStringList(value) && !j.canCompile(value) {
			return false
		}
	}
	return ok
}

var localRef = regexp.MustCompile(`^#(/[A-Za-z0-9_$.-]+)*$`)

// canResolve reports whether a reference leads to a schema within the root.
func (j *schemaChecker) canResolve(v any) bool {
	to, ok := v.(string)
	if !ok || !localRef.MatchString(to) {
		return false
	}
	if j.followed[to] {
		return true
	}
	j.followed[to] = true
	var at any = j.root
	for _, part := range strings.Split(to, "/")[1:] {
		object, _ := at.(map[string]any)
		next, there := object[part]
		if !there {
			return false
		}
		at = next
	}
	if s, ok := at.(map[string]any); ok && s["$ref"] != nil { // a chain of references may be endless
		return false
	}
	return j.canCompile(at)
}
