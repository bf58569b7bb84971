package access

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// explain says why a value does not fit, in one sentence that names the place and quotes nothing of the value; empty: it sees no reason.
func explain(root *jsonschema.Schema, value any) string {
	return explainer{root: root, draft7: isDraft7(root.Schema)}.schema(root, value, "", 0)
}

type explainer struct {
	root   *jsonschema.Schema
	draft7 bool
}

// schema looks for the first rule that a value breaks; empty: none that has a sentence of its own.
func (e explainer) schema(s *jsonschema.Schema, value any, path string, depth int) string {
	if s == nil || depth > 100 {
		return ""
	}
	if s.Ref != "" {
		if wrong := e.schema(pointed(e.root, s.Ref), value, path, depth+1); wrong != "" || e.draft7 {
			return wrong // what stands beside it counts for nothing in draft-07
		}
	}
	if wrong := scalar(s, value, path); wrong != "" {
		return wrong
	}
	for _, sub := range s.AllOf {
		if wrong := e.schema(sub, value, path, depth+1); wrong != "" {
			return wrong
		}
	}
	if wrong := e.choice(s, value, path, depth); wrong != "" {
		return wrong
	}
	switch v := value.(type) {
	case map[string]any:
		return e.object(s, v, path, depth)
	case []any:
		return e.array(s, v, path, depth)
	}
	return ""
}

// choice looks at anyOf and oneOf: where no branch can be met, the place is wrong.
func (e explainer) choice(s *jsonschema.Schema, value any, path string, depth int) string {
	for _, branches := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		wrong := ""
		for _, b := range branches {
			if wrong = e.schema(b, value, path, depth+1); wrong == "" {
				break
			}
		}
		switch {
		case wrong == "":
		case len(branches) == 1:
			return wrong
		default:
			return place(path) + " fits none of the forms that the tool's schema allows there."
		}
	}
	return ""
}

func (e explainer) object(s *jsonschema.Schema, v map[string]any, path string, depth int) string {
	for _, name := range s.Required {
		if _, there := v[name]; !there {
			return place(within(path, name)) + " is missing."
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		sub, known := s.Properties[name]
		if !known && len(s.PatternProperties) == 0 && s.AdditionalProperties != nil {
			if never(s.AdditionalProperties) {
				return place(within(path, name)) + " is not a parameter of this tool."
			}
			sub = s.AdditionalProperties
		}
		if wrong := e.schema(sub, v[name], within(path, name), depth+1); wrong != "" {
			return wrong
		}
	}
	return ""
}

func (e explainer) array(s *jsonschema.Schema, v []any, path string, depth int) string {
	switch {
	case s.MinItems != nil && len(v) < *s.MinItems:
		return place(path) + " must have at least " + counted(*s.MinItems, "item") + "."
	case s.MaxItems != nil && len(v) > *s.MaxItems:
		return place(path) + " must have at most " + counted(*s.MaxItems, "item") + "."
	}
	for i, item := range v {
		sub := s.Items
		if i < len(s.PrefixItems) {
			sub = s.PrefixItems[i]
		}
		if wrong := e.schema(sub, item, fmt.Sprintf("%s[%d]", path, i), depth+1); wrong != "" {
			return wrong
		}
	}
	return ""
}

// scalar looks at the rules that need no look inside the value.
func scalar(s *jsonschema.Schema, value any, path string) string {
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	if len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return isType(t, value) }) {
		return place(path) + " must be " + article(types) + "."
	}
	if s.Enum != nil && !slices.ContainsFunc(s.Enum, func(one any) bool { return same(one, value) }) {
		return place(path) + " must be one of " + spelledList(s.Enum) + "."
	}
	if s.Const != nil && !same(*s.Const, value) {
		return place(path) + " must be " + spelledList([]any{*s.Const}) + "."
	}
	switch v := value.(type) {
	case string:
		return text(s, v, path)
	case float64:
		return number(s, v, path)
	}
	return ""
}

func text(s *jsonschema.Schema, v, path string) string {
	n := utf8.RuneCountInString(v)
	switch {
	case s.MinLength != nil && n < *s.MinLength:
		return place(path) + " must have at least " + counted(*s.MinLength, "character") + "."
	case s.MaxLength != nil && n > *s.MaxLength:
		return place(path) + " must have at most " + counted(*s.MaxLength, "character") + "."
	}
	if s.Pattern == "" {
		return ""
	}
	if form, err := regexp.Compile(s.Pattern); err == nil && !form.MatchString(v) {
		return place(path) + " does not have the form that the tool's schema asks for."
	}
	return ""
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func number(s *jsonschema.Schema, v float64, path string) string {
	say := func(what string, bound float64) string {
		return place(path) + " must be " + what + " " + strconv.FormatFloat(bound, 'f', -1, 64) + "."
	}
	switch {
	case s.Minimum != nil && v < *s.Minimum:
		return say("at least", *s.Minimum)
	case s.Maximum != nil && v > *s.Maximum:
		return say("at most", *s.Maximum)
	case s.ExclusiveMinimum != nil && v <= *s.ExclusiveMinimum:
		return say("more than", *s.ExclusiveMinimum)
	case s.ExclusiveMaximum != nil && v >= *s.ExclusiveMaximum:
		return say("less than", *s.ExclusiveMaximum)
	}
	return ""
}

func isType(t string, value any) bool {
	switch v := value.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case float64:
		return t == "number" || t == "integer" && v == math.Trunc(v)
	case []any:
		return t == "array"
	default:
		return t == "object"
	}
}

func article(types []string) string {
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = map[string]string{
			"array": "an array", "boolean": "true or false", "integer": "an integer", "null": "null",
			"number": "a number", "object": "an object", "string": "a string",
		}[t]
	}
	return strings.Join(words, " or ")
}

// spelledList shows what a schema allows.
func spelledList(values []any) string {
	const most = 10
	var words []string
	for _, v := range values[:min(len(values), most)] {
		b, err := json.Marshal(v)
		if err != nil || len(b) > 100 {
			b = []byte("…")
		}
		words = append(words, string(b))
	}
	if len(values) > most {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// never tells whether a schema is false, which the library reads as {"not": {}}.
func never(s *jsonschema.Schema) bool {
	if s.Not == nil || s.Not.Enum != nil || s.Not.Types != nil { // empty ones are not written
		return false
	}
	b, err := json.Marshal(s.Not)
	return err == nil && (string(b) == "true" || string(b) == "{}")
}

func within(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// place names a place among the arguments.
func place(path string) string {
	if path == "" {
		return "The object of arguments"
	}
	if most := 200; len(path) > most {
		path = path[:most] + "…"
	}
	return fmt.Sprintf("The argument %q", path)
}
