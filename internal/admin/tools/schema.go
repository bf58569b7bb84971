package tools

import (
	"bytes"
	"encoding/json"
	"slices"
)

// pageSchema is the part of a JSON Schema that pages use: for a table of parameters, and for a form. A keyword
// with a value of the wrong type is absent.
type pageSchema struct {
	types        []string
	title        string
	description  string
	properties   []schemaMember
	required     map[string]bool
	items        *schemaValue
	enum         []*schemaValue
	constValue   json.RawMessage
	defaultValue json.RawMessage
	minimum      json.RawMessage
	maximum      json.RawMessage
	maxLength    json.RawMessage
	format       string
	pattern      string
	writeOnly    bool
	ref          string
	allOf        []*schemaValue
	anyOf        []*schemaValue
	oneOf        []*schemaValue
}

// Bounds of one keyword. What exceeds them is not shown.
const (
	maxTypes       = 16
	maxNumberBytes = 64
)

// readSchema returns the value as a schema, decoded once; ok is false if it is none.
func (v *schemaValue) readSchema() (s pageSchema, ok bool) {
	if v == nil || !v.isObject() {
		return pageSchema{}, v != nil && string(v.raw) == "null"
	}
	if v.schema == nil {
		v.schema = &pageSchema{
			types:        v.getMember("type").typeNames(),
			title:        v.getMember("title").readText(),
			description:  v.getMember("description").readText(),
			required:     v.getMember("required").readTexts(),
			items:        v.getMember("items"),
			enum:         v.getMember("enum").listItems(),
			constValue:   v.getMember("const").rawText(),
			defaultValue: v.getMember("default").rawText(),
			minimum:      v.getMember("minimum").rawNumber(),
			maximum:      v.getMember("maximum").rawNumber(),
			maxLength:    v.getMember("maxLength").rawNumber(),
			format:       v.getMember("format").readText(),
			pattern:      v.getMember("pattern").readText(),
			writeOnly:    string(v.getMember("writeOnly").rawText()) == "true",
			ref:          v.getMember("$ref").readText(),
			allOf:        v.getMember("allOf").listItems(),
			anyOf:        v.getMember("anyOf").listItems(),
			oneOf:        v.getMember("oneOf").listItems(),
		}
		if properties := v.getMember("properties"); properties != nil {
			v.schema.properties = properties.members
		}
	}
	return *v.schema, true
}

func (v *schemaValue) readText() string {
	if v == nil || v.raw[0] != '"' {
		return ""
	}
	return decodeText(v.raw)
}

func (v *schemaValue) listItems() []*schemaValue {
	if v == nil {
		return nil
	}
	return v.items
}

func (v *schemaValue) rawText() json.RawMessage {
	if v == nil {
		return nil
	}
	return v.raw
}

// rawNumber returns a number as written, if it is short.
func (v *schemaValue) rawNumber() json.RawMessage {
	if v == nil || len(v.raw) > maxNumberBytes {
		return nil
	}
	return v.raw
}

// readTexts returns the set of the strings in a list.
func (v *schemaValue) readTexts() map[string]bool {
	set := map[string]bool{}
	for _, item := range v.listItems() {
		if item.raw[0] == '"' {
			set[item.readText()] = true
		}
	}
	return set
}

// typeNames returns the value of the keyword type: one name or several.
func (v *schemaValue) typeNames() []string {
	if v == nil || len(v.items) > maxTypes {
		return nil
	}
	if v.raw[0] == '"' {
		return []string{v.readText()}
	}
	var names []string
	for _, item := range v.items {
		if item.raw[0] != '"' {
			return nil
		}
		names = append(names, item.readText())
	}
	return names
}

// isNull reports whether a schema allows null alone.
func (v *schemaValue) isNull() bool {
	return slices.Equal(v.getMember("type").typeNames(), []string{"null"}) || string(v.getMember("const").rawText()) == "null"
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

// get returns the value of a member; nil if there is none. Of duplicates the last counts, as in most JSON
// parsers.
func (o orderedObject) get(name string) json.RawMessage {
	for _, m := range slices.Backward(o) {
		if m.name == name {
			return m.value
		}
	}
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
