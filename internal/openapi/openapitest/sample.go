package openapitest

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// sampler makes values that schemas accept. Schemas of OpenAPI and of JSON Schema are read alike.
type sampler struct {
	root  map[string]any // that references begin in
	level int
	plain bool // no characters that have to be escaped
	input bool // readOnly members are left out
	part  bool // of an allOf: required members may be in another part
	// needed are the members that other parts require.
	needed []any
}

const maxLevel = 7

// difficult is a text that has to be escaped in each part of a request.
const difficult = `a b/ü&=?#%+;,"x"`

func (s sampler) nextLevel() sampler {
	s.level++
	s.part, s.needed = false, nil
	return s
}

// resolveRefs follows the references of a schema.
func (s sampler) resolveRefs(v any) map[string]any {
	for range 20 {
		schema, _ := v.(map[string]any)
		ref, ok := schema["$ref"].(string)
		if !ok {
			return schema
		}
		v = findPointer(s.root, ref)
	}
	return nil
}

// Value returns a value for a schema; ok is false if it has none that this finds.
func (s sampler) Value(v any) (value any, ok bool) {
	if v == false {
		return nil, false
	}
	schema := s.resolveRefs(v)
	if s.level > maxLevel {
		return nil, false
	}
	if constant, there := schema["const"]; there {
		return constant, true
	}
	if enum, _ := schema["enum"].([]any); len(enum) > 0 {
		return enum[0], true
	}
	for _, name := range []string{"oneOf", "anyOf"} {
		if branches, _ := schema[name].([]any); len(branches) > 0 {
			return s.branchValue(schema, branches)
		}
	}
	if parts, _ := schema["allOf"].([]any); len(parts) > 0 {
		return s.mergeParts(schema, parts)
	}
	return s.typedValue(schema)
}

// branchValue returns a value of the first alternative that has one, with the members of the schema itself.
func (s sampler) branchValue(schema map[string]any, branches []any) (any, bool) {
	for _, branch := range branches {
		rest := map[string]any{}
		for name, v := range schema {
			if name != "oneOf" && name != "anyOf" {
				rest[name] = v
			}
		}
		if value, ok := s.mergeParts(rest, []any{branch}); ok && value != nil {
			return value, true
		}
	}
	return nil, false
}

// mergeParts returns a value for a schema and the parts of its allOf: the members of objects together, else that of the first
// part with a type.
func (s sampler) mergeParts(schema map[string]any, parts []any) (any, bool) {
	rest := map[string]any{}
	for name, v := range schema {
		if name != "allOf" {
			rest[name] = v
		}
	}
	members, found, isObject := map[string]any{}, any(nil), false
	required := s.needed
	all := slices.Concat([]any{rest}, parts)
	for _, part := range all {
		more, _ := s.resolveRefs(part)["required"].([]any)
		required = slices.Concat(required, more)
	}
	inner := s.nextLevel()
	inner.part, inner.needed = true, required
	for _, part := range all {
		resolved := s.resolveRefs(part)
		if len(resolved) == 0 || onlyNotes(resolved) {
			continue
		}
		value, ok := inner.Value(resolved)
		if !ok {
			return nil, false
		}
		if object, is := value.(map[string]any); is {
			isObject = true
			for name, v := range object {
				if _, there := members[name]; !there || hasConstant(s, resolved, name) {
					members[name] = v
				}
			}
		} else if found == nil {
			found = value
		}
	}
	if !isObject {
		return found, true
	}
	for _, name := range required {
		if _, there := members[name.(string)]; !there && !s.part {
			members[name.(string)] = "x"
		}
	}
	return members, true
}

// hasConstant reports whether a schema fixes a member.
func hasConstant(s sampler, schema map[string]any, name string) bool {
	properties, _ := schema["properties"].(map[string]any)
	property := s.resolveRefs(properties[name])
	return property["enum"] != nil || property["const"] != nil
}

// onlyNotes reports whether a schema says nothing about values.
func onlyNotes(schema map[string]any) bool {
	for name := range schema {
		switch name {
		case "title", "description", "deprecated", "nullable", "example", "examples", "default", "discriminator", "readOnly", "writeOnly", "xml", "externalDocs", "$defs":
		default:
			if !strings.HasPrefix(name, "x-") {
				return false
			}
		}
	}
	return true
}

// typedValue returns a value by the type.
func (s sampler) typedValue(schema map[string]any) (any, bool) {
	switch schemaType(schema) {
	case "object":
		return s.objectValue(schema)
	case "array":
		return s.arrayValue(schema)
	case "integer":
		return json.Number(formatNumber(boundedNumber(schema, 7))), true
	case "number":
		return json.Number(formatNumber(boundedNumber(schema, 2.5))), true
	case "boolean":
		return true, true
	case "null":
		return nil, true
	}
	return s.textValue(schema), true
}

// schemaType returns the first type that is not null.
func schemaType(schema map[string]any) string {
	if list, ok := schema["type"].([]any); ok {
		for _, t := range list {
			if t != "null" {
				return t.(string)
			}
		}
		return "null"
	}
	if t, ok := schema["type"].(string); ok {
		return t
	}
	switch {
	case schema["properties"] != nil, schema["additionalProperties"] != nil && schema["additionalProperties"] != false, schema["required"] != nil:
		return "object"
	case schema["items"] != nil, schema["prefixItems"] != nil:
		return "array"
	case schema["minimum"] != nil, schema["maximum"] != nil, schema["multipleOf"] != nil:
		return "number"
	}
	return "string"
}

// objectValue returns an object with all of its members, or those that are required below the first levels.
func (s sampler) objectValue(schema map[string]any) (any, bool) {
	object := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		isRequired := slices.Contains(required, any(name)) || slices.Contains(s.needed, any(name))
		resolved := s.resolveRefs(properties[name])
		if !isRequired && (s.level > 2 || s.level > 0 && len(object) > 12) || s.input && resolved["readOnly"] == true || !s.input && resolved["writeOnly"] == true {
			continue
		}
		value, ok := s.nextLevel().Value(properties[name])
		if !ok {
			if isRequired {
				return nil, false
			}
			continue
		}
		object[name] = value
	}
	if len(properties) == 0 && schema["additionalProperties"] != false && !s.part {
		if value, ok := s.nextLevel().Value(schema["additionalProperties"]); ok {
			object["key"] = value
		}
	}
	for _, name := range required {
		if _, there := object[name.(string)]; !there && !s.part && properties[name.(string)] == nil {
			object[name.(string)] = "x"
		}
	}
	return object, true
}

func (s sampler) arrayValue(schema map[string]any) (any, bool) {
	list := []any{}
	prefix, _ := schema["prefixItems"].([]any)
	for _, item := range prefix {
		value, ok := s.nextLevel().Value(item)
		if !ok {
			return nil, false
		}
		list = append(list, value)
	}
	minItems, maxItems := numberOf(schema["minItems"], 0), numberOf(schema["maxItems"], 2)
	size := int(min(max(minItems, 2), maxItems))
	if schema["uniqueItems"] == true && minItems <= 1 {
		size = min(size, 1)
	}
	for len(list) < size {
		value, ok := s.nextLevel().Value(schema["items"])
		if !ok {
			return list, minItems == 0
		}
		list = append(list, value)
	}
	return list, true
}

func numberOf(v any, none float64) float64 {
	if n, ok := v.(json.Number); ok {
		f, _ := n.Float64()
		return f
	}
	return none
}

// boundedNumber returns a number within the bounds of a schema.
func boundedNumber(schema map[string]any, n float64) float64 {
	low, high := numberOf(schema["minimum"], math.Inf(-1)), numberOf(schema["maximum"], math.Inf(1))
	if v, ok := schema["exclusiveMinimum"].(json.Number); ok {
		low = numberOf(v, 0) + 1
	} else if schema["exclusiveMinimum"] == true {
		low++
	}
	if v, ok := schema["exclusiveMaximum"].(json.Number); ok {
		high = numberOf(v, 0) - 1
	} else if schema["exclusiveMaximum"] == true {
		high--
	}
	n = min(max(n, low), high)
	if step := numberOf(schema["multipleOf"], 0); step > 0 {
		n = math.Ceil(n/step) * step
	}
	return n
}

func formatNumber(n float64) string {
	b, _ := json.Marshal(n)
	return string(b)
}

// formats are texts of formats.
var formats = map[string]string{
	"date": "2026-01-31", "date-time": "2026-01-31T12:00:00Z", "uuid": "123e4567-e89b-12d3-a456-426614174000", "email": "a@example.com",
	"uri": "https://example.com/a?b=c", "url": "https://example.com/a?b=c", "byte": "AAEC", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
	"hostname": "example.com", "time": "12:00:00Z", "duration": "PT1H",
}

// textValue returns a text. A pattern gets one of the texts that it accepts.
func (s sampler) textValue(schema map[string]any) string {
	if schema["contentEncoding"] == "base64" {
		return "AAECA/8="
	}
	if pattern, ok := schema["pattern"].(string); ok {
		for _, known := range []any{schema["example"], schema["default"], firstOf(schema["examples"])} {
			if text, ok := known.(string); ok {
				return text
			}
		}
		return matchingText(pattern, int(numberOf(schema["minLength"], 0)))
	}
	if format, ok := schema["format"].(string); ok && formats[format] != "" {
		return formats[format]
	}
	text := difficult
	if s.plain {
		text = "abc"
	}
	if most := int(numberOf(schema["maxLength"], 1000)); len([]rune(text)) > most {
		text = string([]rune("a b/ü")[:min(most, 5)])
	}
	for len(text) < int(numberOf(schema["minLength"], 0)) {
		text += "x"
	}
	return text
}

func firstOf(v any) any {
	if list, ok := v.([]any); ok && len(list) > 0 {
		return list[0]
	}
	return nil
}

// matchingText returns a text that a pattern accepts, if it is among common ones.
func matchingText(pattern string, minLength int) string {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "abc"
	}
	for _, text := range []string{
		"abc", "1", "12", "abcd1234", "ABC", "AB", "2026-01-31", "123e4567-e89b-12d3-a456-426614174000", "https://example.com", "a@example.com", "#ff0000",
		"0x1f", "1.0", "12:00", "a/b", "+15551234567", "en-US", "en", strings.Repeat("a1", 16), strings.Repeat("a", 40), strings.Repeat("1", 16), "",
		"12345678901234567890", "MG" + strings.Repeat("a1", 16), "1h", "5m", "a_b", "ab-cd", "abc.def", "1s", "#1", "us-east-1", "C0123456789", "1.2.3",
		"sha256:" + strings.Repeat("a1", 32), strings.Repeat("a1", 20), "ssh-rsa AAAA", "ssh-ed25519 AAAA",
	} {
		if re.MatchString(text) && len(text) >= minLength {
			return text
		}
	}
	if prefix := regexp.MustCompile(`^\^?\(?([A-Z]{2})`).FindStringSubmatch(pattern); prefix != nil {
		if text := prefix[1] + strings.Repeat("a1", 16); re.MatchString(text) {
			return text
		}
	}
	return "abc"
}
