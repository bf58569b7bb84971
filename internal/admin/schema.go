package admin

import (
	"bytes"
	"encoding/json"
	"slices"
)

// pageSchema is the part of a JSON Schema that pages use: for a table of parameters, and for a form.
type pageSchema struct {
	Type        typeNames       `json:"type"`
	Title       lenient[string] `json:"title"`
	Description lenient[string] `json:"description"`
	Properties  orderedObject   `json:"properties"`
	Required    lenient[[]any]  `json:"required"`
	Items       json.RawMessage `json:"items"`
	Enum        rawValues       `json:"enum"`
	Const       json.RawMessage `json:"const"`
	Default     json.RawMessage `json:"default"`
	Minimum     json.RawMessage `json:"minimum"`
	Maximum     json.RawMessage `json:"maximum"`
	MaxLength   json.RawMessage `json:"maxLength"`
	Format      lenient[string] `json:"format"`
	Pattern     lenient[string] `json:"pattern"`
	WriteOnly   lenient[bool]   `json:"writeOnly"`
	Ref         lenient[string] `json:"$ref"`
	AllOf       rawValues       `json:"allOf"`
	AnyOf       rawValues       `json:"anyOf"`
	OneOf       rawValues       `json:"oneOf"`
}

func readSchema(raw json.RawMessage) (pageSchema, bool) {
	var s pageSchema
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return pageSchema{}, false
	}
	return s, true
}

func (s pageSchema) isRequired(name string) bool {
	return slices.Contains(s.Required.value, any(name))
}

// rawValues are kept as the server wrote them.
type rawValues = lenient[[]json.RawMessage]

// typeNames is the value of the keyword type: one name or several.
type typeNames []string

// UnmarshalJSON accepts a string or a list of strings, and ignores any other value.
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

// lenient is a value that stays zero if the document holds another type.
type lenient[T any] struct{ value T }

// UnmarshalJSON never fails: one malformed field must not hide the others.
func (l *lenient[T]) UnmarshalJSON(b []byte) error {
	var v T
	if json.Unmarshal(b, &v) == nil {
		l.value = v
	}
	return nil
}

// orderedObject is a JSON object's members in the order of the document.
type orderedObject []objectMember

type objectMember struct {
	name  string
	value json.RawMessage
}

// UnmarshalJSON reads an object, and ignores any other value.
func (o *orderedObject) UnmarshalJSON(b []byte) error {
	*o, _ = readMembers(json.NewDecoder(bytes.NewReader(b)))
	return nil
}

func readMembers(d *json.Decoder) (orderedObject, error) {
	open, err := d.Token()
	if err != nil || open != json.Delim('{') {
		return nil, err
	}
	var all orderedObject
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
		all = append(all, objectMember{name: name, value: value})
	}
	return all, nil
}
