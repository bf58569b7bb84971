package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/fault"
)

// schemaChecker validates a JSON value against a schema of the OpenAPI document. It is stricter than huma's
// validation, which accepts null for any optional field and keys in any case, and its errors never repeat a
// value.
type schemaChecker struct {
	registry huma.Registry
	fields   []fault.Field
}

func (c *schemaChecker) addError(path, format string, args ...any) {
	name := path
	if path == "" {
		path, name = "body", "The request body"
	}
	c.fields = append(c.fields, fault.Field{Location: path, Message: name + " " + fmt.Sprintf(format, args...)})
}

// checkValue validates v at a dotted path.
func (c *schemaChecker) checkValue(s *huma.Schema, path string, v any) {
	for s.Ref != "" {
		s = c.registry.SchemaFromRef(s.Ref)
	}
	if v == nil {
		if !s.Nullable && s.Type != "" {
			c.addError(path, "must not be null.")
		}
		return
	}
	switch s.Type {
	case huma.TypeObject:
		c.checkObject(s, path, v)
	case huma.TypeArray:
		c.checkArray(s, path, v)
	case huma.TypeString:
		c.checkText(s, path, v)
	case huma.TypeInteger:
		c.checkInteger(s, path, v)
	case huma.TypeBoolean:
		if _, ok := v.(bool); !ok {
			c.addError(path, "must be true or false.")
		}
	}
}

func (c *schemaChecker) checkObject(s *huma.Schema, path string, v any) {
	object, ok := v.(map[string]any)
	if !ok {
		c.addError(path, "must be an object.")
		return
	}
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			c.addError(childPath(path, name), "is required.")
		}
	}
	additional, _ := s.AdditionalProperties.(*huma.Schema)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch property := s.Properties[name]; {
		case property != nil:
			c.checkValue(property, childPath(path, name), object[name])
		case additional == nil:
			c.addError(childPath(path, name), "is not a known field.")
		case strings.ContainsRune(name, 0):
			c.addError(childPath(path, name), "must not contain a NUL character.")
		default:
			c.checkValue(additional, childPath(path, name), object[name])
		}
	}
}

func (c *schemaChecker) checkArray(s *huma.Schema, path string, v any) {
	items, ok := v.([]any)
	if !ok {
		c.addError(path, "must be an array.")
		return
	}
	for i, item := range items {
		c.checkValue(s.Items, fmt.Sprintf("%s[%d]", path, i), item)
	}
}

func (c *schemaChecker) checkText(s *huma.Schema, path string, v any) {
	text, ok := v.(string)
	if !ok {
		c.addError(path, "must be a string.")
		return
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, any(text)) {
		c.addError(path, "must be one of %s.", joinValues(s.Enum))
		return
	}
	length := utf8.RuneCountInString(text)
	_, timeErr := time.Parse(time.RFC3339, text)
	switch {
	case strings.ContainsRune(text, 0): // PostgreSQL's text type refuses it
		c.addError(path, "must not contain a NUL character.")
	case s.MinLength != nil && length < *s.MinLength:
		c.addError(path, "must not be shorter than %d characters.", *s.MinLength)
	case s.MaxLength != nil && length > *s.MaxLength:
		c.addError(path, "must not be longer than %d characters.", *s.MaxLength)
	case s.Format == "date-time" && timeErr != nil:
		c.addError(path, "must be an RFC 3339 time such as 2026-01-31T12:00:00Z.")
	}
}

func (c *schemaChecker) checkInteger(s *huma.Schema, path string, v any) {
	number, ok := v.(json.Number)
	if !ok {
		c.addError(path, "must be an integer.")
		return
	}
	n, err := strconv.ParseInt(number.String(), 10, 64)
	switch {
	case err != nil:
		c.addError(path, "must be an integer in digits.")
	case s.Minimum != nil && n < int64(*s.Minimum):
		c.addError(path, "must not be less than %d.", int64(*s.Minimum))
	case s.Maximum != nil && n > int64(*s.Maximum):
		c.addError(path, "must not be more than %d.", int64(*s.Maximum))
	}
}

// childPath is the path of a key. A long key is cut, since it is the caller's text.
func childPath(path, key string) string {
	const longest = 64
	if utf8.RuneCountInString(key) > longest {
		key = string([]rune(key)[:longest]) + "…"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func joinValues(values []any) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = fmt.Sprint(v)
	}
	return strings.Join(parts, ", ")
}
