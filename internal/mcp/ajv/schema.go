package ajv

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

const (
	maxDepth = 64      // of the schema
	maxSize  = 1 << 20 // bytes
	maxWork  = 100_000 // schemas that are looked at, again for each reference
)

// Compiles reports whether Ajv is sure to compile the schema, and it describes an object, as MCP before 2026-07-28 demands.
func Compiles(schema []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	var root map[string]any
	if len(schema) > maxSize || dec.Decode(&root) != nil || root["type"] != "object" {
		return false
	}
	j := judge{root: root, known: map[string]bool{"#": true}}
	return j.plain(root, 0) && j.schema(root)
}

// judge walks one schema.
type judge struct {
	root  map[string]any
	known map[string]bool // references that were followed
	work  int             // schemas that were looked at
}

// renaming are keywords that change what references mean, or name a place: two tools' schemas are compiled by one Ajv, where they may
// contradict each other.
var renaming = []string{"$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$dynamicRef", "$recursiveRef", "__proto__"}

// plain reports whether a value, in whatever place, is not nested too deeply and names nothing. Ajv looks for names in the values of unknown
// keywords, too.
func (j *judge) plain(v any, depth int) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if slices.Contains(renaming, key) || depth == maxDepth || !j.plain(value, depth+1) {
				return false
			}
		}
	case []any:
		for _, value := range v {
			if depth == maxDepth || !j.plain(value, depth+1) {
				return false
			}
		}
	}
	return true
}

// schema reports whether Ajv compiles a value in the place of a schema.
func (j *judge) schema(v any) bool {
	if j.work++; j.work > maxWork {
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
		if !j.keyword(key, value) {
			return false
		}
	}
	if _, there := s["nullable"]; there && (s["nullable"] != true || s["type"] == nil) {
		return false
	}
	return true
}

// keyword reports whether Ajv takes the value of a keyword. Those that are not in Ajv's draft-07 vocabularies it ignores.
func (j *judge) keyword(key string, v any) bool {
	switch key {
	case "id", "$async":
		return false
	case "$ref":
		return j.ref(v)
	case "type":
		return isType(v)
	case "pattern":
		text, ok := v.(string)
		return ok && validPattern(text)
	case "format":
		return isFormat(v)
	case "enum":
		all, ok := v.([]any)
		return ok && len(all) > 0
	case "required":
		return isNames(v)
	case "nullable", "uniqueItems":
		_, ok := v.(bool)
		return ok
	case "multipleOf", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "maxLength", "minLength", "maxProperties",
		"minProperties", "maxItems", "minItems":
		return isNumber(v)
	case "additionalItems", "contains", "propertyNames", "additionalProperties", "not", "if", "then", "else":
		return j.schema(v)
	case "properties", "$defs", "definitions":
		return j.schemas(v)
	case "anyOf", "oneOf", "allOf":
		return j.list(v)
	case "items":
		return j.list(v) || j.schema(v)
	case "patternProperties":
		return j.patterns(v)
	case "dependencies":
		return j.dependencies(v)
	}
	return true
}

// isNumber takes no number that JavaScript reads as Infinity or as another one.
func isNumber(v any) bool {
	n, ok := v.(json.Number)
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

func isNames(v any) bool {
	all, ok := v.([]any)
	return ok && !slices.ContainsFunc(all, func(v any) bool { _, text := v.(string); return !text })
}

var plainFormat = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// isFormat takes a name; those that Ajv does not know are ignored. No member that each JavaScript object has is one.
func isFormat(v any) bool {
	name, ok := v.(string)
	return ok && plainFormat.MatchString(name) && name != "constructor"
}

func (j *judge) list(v any) bool {
	all, ok := v.([]any)
	return ok && len(all) > 0 && !slices.ContainsFunc(all, func(v any) bool { return !j.schema(v) })
}

func (j *judge) schemas(v any) bool {
	all, ok := v.(map[string]any)
	for _, value := range all {
		if ok = ok && j.schema(value); !ok {
			return false
		}
	}
	return ok
}

func (j *judge) patterns(v any) bool {
	all, ok := v.(map[string]any)
	for pattern := range all {
		if !validPattern(pattern) {
			return false
		}
	}
	return ok && j.schemas(v)
}

func (j *judge) dependencies(v any) bool {
	all, ok := v.(map[string]any)
	for _, value := range all {
		if !isNames(value) && !j.schema(value) {
			return false
		}
	}
	return ok
}

var plainRef = regexp.MustCompile(`^#(/[A-Za-z0-9_$.-]+)*$`)

// ref is a reference within the schema to a schema.
func (j *judge) ref(v any) bool {
	to, ok := v.(string)
	if !ok || !plainRef.MatchString(to) {
		return false
	}
	if j.known[to] {
		return true
	}
	j.known[to] = true
	var at any = j.root
	for _, part := range strings.Split(to, "/")[1:] {
		object, _ := at.(map[string]any)
		next, there := object[part]
		if !there {
			return false
		}
		at = next
	}
	if s, ok := at.(map[string]any); ok && s["$ref"] != nil { // a chain of references may have no end
		return false
	}
	return j.schema(at)
}
