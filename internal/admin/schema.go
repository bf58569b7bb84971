package admin

import (
	"bytes"
	"encoding/json"
	"slices"
)

// schema is the part of a JSON Schema that pages read: for a table of parameters, and for a form that asks for them.
type schema struct {
	Type        typeNames       `json:"type"`
	Title       lenient[string] `json:"title"`
	Description lenient[string] `json:"description"`
	Properties  ordered         `json:"properties"`
	Required    lenient[[]any]  `json:"required"`
	Items       json.RawMessage `json:"items"`
	Enum        values          `json:"enum"`
	Const       json.RawMessage `json:"const"`
	Default     json.RawMessage `json:"default"`
	Minimum     json.RawMessage `json:"minimum"`
	Maximum     json.RawMessage `json:"maximum"`
	MaxLength   json.RawMessage `json:"maxLength"`
	Format      lenient[string] `json:"format"`
	Pattern     lenient[string] `json:"pattern"`
	WriteOnly   lenient[bool]   `json:"writeOnly"`
	Ref         lenient[string] `json:"$ref"`
	AllOf       values          `json:"allOf"`
	AnyOf       values          `json:"anyOf"`
	OneOf       values          `json:"oneOf"`
}

func readSchema(raw json.RawMessage) (schema, bool) {
	var s schema
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return schema{}, false
	}
	return s, true
}

func (s schema) requires(name string) bool {
	return slices.Contains(s.Required.value, any(name))
}

// values are spelled as the server spells them.
type values = lenient[[]json.RawMessage]

// typeNames is a schema's type: one name or several.
type typeNames []string

// UnmarshalJSON takes a string or a list of strings, and nothing from any other value.
func (t *typeNames) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = typeNames{one}
		return nil
	}
	var several []string
	if json.Unmarshal(b, &several) == nil {
		*t = several
	}
	return nil
}

// lenient is a value that stays empty where the document holds another type.
type lenient[T any] struct{ value T }

// UnmarshalJSON never fails: one odd field must not hide the others.
func (l *lenient[T]) UnmarshalJSON(b []byte) error {
	var v T
	if json.Unmarshal(b, &v) == nil {
		l.value = v
	}
	return nil
}

// ordered is a JSON object's members in the order of the document.
type ordered []member

type member struct {
	name  string
	value json.RawMessage
}

// UnmarshalJSON reads an object, and as much as can be read of any other value: nothing.
func (o *ordered) UnmarshalJSON(b []byte) error {
	*o, _ = members(json.NewDecoder(bytes.NewReader(b)))
	return nil
}

func members(d *json.Decoder) (ordered, error) {
	open, err := d.Token()
	if err != nil || open != json.Delim('{') {
		return nil, err
	}
	var all ordered
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return all, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return all, err
		}
		name, _ := key.(string)
		all = append(all, member{name: name, value: value})
	}
	return all, nil
}
