package manifest

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Document is a JSON object.
type Document map[string]any

// Field is a differing field.
type Field struct {
	Name string `json:"field"`
	From any    `json:"from"` // nil: none
	To   any    `json:"to"`
}

const hiddenValue = "(secret)"

func toDocument(v any) Document {
	text, err := json.Marshal(v)
	doc := Document{}
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		panic(err) // the client's types always marshal
	}
	return doc
}

// diffFields returns the fields of wanted that differ, with the members of auth one by one.
func diffFields(current, wanted Document) (fields []Field) {
	for _, name := range sortedKeys(wanted) {
		want, have := wanted[name], current[name]
		switch within, isObject := want.(map[string]any); {
		case isObject && name == "auth":
			had, _ := have.(map[string]any)
			for _, f := range diffFields(had, within) {
				fields = append(fields, Field{name + "." + f.Name, f.From, f.To})
			}
		case !isEqual(name, have, want):
			fields = append(fields, Field{name, have, want})
		}
	}
	return fields
}

// isEqual treats missing fields as empty, and scopes, tags and methods as sets.
func isEqual(name string, have, want any) bool {
	if have == nil || want == nil {
		return isEmpty(have) && isEmpty(want)
	}
	if name == "scopes" || name == "tags" || name == "methods" {
		have, want = sortStrings(have), sortStrings(want)
	}
	return reflect.DeepEqual(have, want)
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case float64:
		return v == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

func sortStrings(v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b any) int {
		x, _ := a.(string)
		y, _ := b.(string)
		return strings.Compare(x, y)
	})
	return list
}

// selectFields returns the members of wanted that fields name.
func selectFields(wanted Document, fields []Field) Document {
	part := Document{}
	for _, f := range fields {
		name, _, _ := strings.Cut(f.Name, ".")
		part[name] = wanted[name]
	}
	return part
}

func decodeDocument[T any](doc Document) (form T, err error) {
	text, err := json.Marshal(doc)
	if err == nil {
		err = json.Unmarshal(text, &form)
	}
	return form, err
}
