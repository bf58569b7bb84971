package manifest

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Document is a JSON object.
type Document map[string]any

// Field is one that differs.
type Field struct {
	Name string `json:"field"`
	From any    `json:"from"` // nil: nothing
	To   any    `json:"to"`
}

// hidden stands for the value of a secret.
const hidden = "(secret)"

// documentOf is what the API answered, as it said it.
func documentOf(v any) Document {
	text, err := json.Marshal(v)
	doc := Document{}
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		panic(err) // the client's types are JSON
	}
	return doc
}

// differing are the fields of wanted that are otherwise in what is there. The members of auth and headers are told one by one.
func differing(is, wanted Document) (fields []Field) {
	for _, name := range slugs(wanted) {
		want, have := wanted[name], is[name]
		switch within, isObject := want.(map[string]any); {
		case isObject && name == "auth":
			had, _ := have.(map[string]any)
			for _, f := range differing(had, within) {
				fields = append(fields, Field{name + "." + f.Name, f.From, f.To})
			}
		case !equal(name, have, want):
			fields = append(fields, Field{name, have, want})
		}
	}
	return fields
}

// equal: what the API leaves out is as good as empty, and scopes and tags have no order.
func equal(name string, have, want any) bool {
	if have == nil || want == nil {
		return empty(have) && empty(want)
	}
	if name == "scopes" || name == "tags" {
		have, want = sorted(have), sorted(want)
	}
	return reflect.DeepEqual(have, want)
}

func empty(v any) bool {
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

func sorted(v any) any {
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

// within is the part of a document that fields name: what a change sends.
func within(wanted Document, fields []Field) Document {
	part := Document{}
	for _, f := range fields {
		name, _, _ := strings.Cut(f.Name, ".")
		part[name] = wanted[name]
	}
	return part
}

// into is a document in the form of the API.
func into[T any](doc Document) (form T, err error) {
	text, err := json.Marshal(doc)
	if err == nil {
		err = json.Unmarshal(text, &form)
	}
	return form, err
}
