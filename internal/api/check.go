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

// checker holds a JSON value against a schema of the OpenAPI document. It is stricter than huma's own check, which lets
// null pass for any optional field and takes keys in any case, and it never repeats a value.
type checker struct {
	registry huma.Registry
	fields   []fault.Field
}

func (c *checker) add(at, format string, args ...any) {
	name := at
	if at == "" {
		at, name = "body", "The request body"
	}
	c.fields = append(c.fields, fault.Field{Location: at, Message: name + " " + fmt.Sprintf(format, args...)})
}

// value checks v, which stands at the dotted path at.
func (c *checker) value(s *huma.Schema, at string, v any) {
	for s.Ref != "" {
		s = c.registry.SchemaFromRef(s.Ref)
	}
	if v == nil {
		if !s.Nullable && s.Type != "" {
			c.add(at, "must not be null.")
		}
		return
	}
	switch s.Type {
	case huma.TypeObject:
		c.object(s, at, v)
	case huma.TypeArray:
		c.array(s, at, v)
	case huma.TypeString:
		c.text(s, at, v)
	case huma.TypeInteger:
		c.integer(s, at, v)
	case huma.TypeBoolean:
		if _, ok := v.(bool); !ok {
			c.add(at, "must be true or false.")
		}
	}
}

func (c *checker) object(s *huma.Schema, at string, v any) {
	object, ok := v.(map[string]any)
	if !ok {
		c.add(at, "must be an object.")
		return
	}
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			c.add(below(at, name), "is required.")
		}
	}
	others, _ := s.AdditionalProperties.(*huma.Schema)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch property := s.Properties[name]; {
		case property != nil:
			c.value(property, below(at, name), object[name])
		case others == nil:
			c.add(below(at, name), "is no field of this document.")
		case strings.ContainsRune(name, 0):
			c.add(below(at, name), "must not contain a NUL character.")
		default:
			c.value(others, below(at, name), object[name])
		}
	}
}

func (c *checker) array(s *huma.Schema, at string, v any) {
	items, ok := v.([]any)
	if !ok {
		c.add(at, "must be an array.")
		return
	}
	for i, item := range items {
		c.value(s.Items, fmt.Sprintf("%s[%d]", at, i), item)
	}
}

func (c *checker) text(s *huma.Schema, at string, v any) {
	text, ok := v.(string)
	if !ok {
		c.add(at, "must be a string.")
		return
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, any(text)) {
		c.add(at, "must be one of %s.", words(s.Enum))
		return
	}
	length := utf8.RuneCountInString(text)
	_, timeErr := time.Parse(time.RFC3339, text)
	switch {
	case strings.ContainsRune(text, 0): // PostgreSQL's text cannot hold it
		c.add(at, "must not contain a NUL character.")
	case s.MinLength != nil && length < *s.MinLength:
		c.add(at, "must not be shorter than %d characters.", *s.MinLength)
	case s.MaxLength != nil && length > *s.MaxLength:
		c.add(at, "must not be longer than %d characters.", *s.MaxLength)
	case s.Format == "date-time" && timeErr != nil:
		c.add(at, "must be a time as in 2026-01-31T12:00:00Z (RFC 3339).")
	}
}

func (c *checker) integer(s *huma.Schema, at string, v any) {
	number, ok := v.(json.Number)
	if !ok {
		c.add(at, "must be a whole number.")
		return
	}
	n, err := strconv.ParseInt(number.String(), 10, 64)
	switch {
	case err != nil:
		c.add(at, "must be a whole number in digits.")
	case s.Minimum != nil && n < int64(*s.Minimum):
		c.add(at, "must not be less than %d.", int64(*s.Minimum))
	case s.Maximum != nil && n > int64(*s.Maximum):
		c.add(at, "must not be more than %d.", int64(*s.Maximum))
	}
}

// below is the path of a key. A long key is cut: it is the caller's text.
func below(at, key string) string {
	const longest = 64
	if utf8.RuneCountInString(key) > longest {
		key = string([]rune(key)[:longest]) + "…"
	}
	if at == "" {
		return key
	}
	return at + "." + key
}

func words(values []any) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = fmt.Sprint(v)
	}
	return strings.Join(parts, ", ")
}
