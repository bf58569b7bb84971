package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"patchbay/internal/words"
)

// Bounds of a form that is made from a schema.
const (
	maxFormSchema  = 128 << 10 // bytes
	maxFormFields  = 100
	maxFormDepth   = 4
	maxFormChoices = 300
	maxSeveral     = 24 // choices that are boxes to tick
)

// toolForm asks for a tool's arguments by fields. The zero value asks for nothing.
type toolForm struct {
	fields []formField
	only   string // why the arguments can be written as JSON alone; empty: the fields ask for all of them
}

// asks is what a field asks for.
type asks int

const (
	asksJSON asks = iota // whatever has no better field
	asksText
	asksNumber
	asksInteger
	asksFlag    // true or false, always sent
	asksChoice  // one of its choices
	asksLines   // a list, an item a line
	asksSeveral // a list of some of its choices
	asksGroup   // an object
)

// formField asks for one property.
type formField struct {
	name     string // of the control: where it stands in the schema, "arg.2.0"
	key      string // of the property
	schema   schema
	asks     asks
	item     asks // of asksLines
	choices  []formChoice
	fields   []formField // of asksGroup
	required bool        // by the object that it belongs to
	insists  bool        // and so is that object, and all above it: it cannot be left out
	top      bool        // all objects above it are sent in any case, so that a default may be filled in
	nullable bool
}

// formChoice is one value to choose.
type formChoice struct {
	value string // as JSON, without white space
	label string
}

// formMaker makes fields.
type formMaker struct {
	document
	left int // fields that may still be made
}

// newToolForm makes a form out of a tool's input schema.
func newToolForm(ctx context.Context, raw json.RawMessage) toolForm {
	if len(raw) == 0 {
		return toolForm{}
	}
	if len(raw) > maxFormSchema {
		return toolForm{only: words.T(ctx, "The input schema is too large for a form. Write one JSON object.")}
	}
	m := &formMaker{document: newDocument(raw), left: maxFormFields}
	s, _ := m.plain(raw)
	if len(s.Properties) == 0 && (len(s.union()) > 0 || len(s.AllOf.value) > 0 || s.Ref.value != "") {
		return toolForm{only: words.T(ctx, "The input schema is too intricate for a form. Write one JSON object.")}
	}
	fields := m.fields(s, formField{name: "arg", required: true, insists: true, top: true}, 1)
	if m.left < 0 {
		return toolForm{only: words.T(ctx, "There are too many parameters for a form. Write one JSON object.")}
	}
	return toolForm{fields: fields}
}

func (m *formMaker) fields(s schema, in formField, depth int) []formField {
	var fields []formField
	for i, property := range s.Properties {
		if m.left--; m.left < 0 {
			return nil
		}
		required := s.requires(property.name)
		f := formField{
			name: in.name + "." + strconv.Itoa(i), key: property.name,
			required: required, insists: required && in.insists, top: in.insists,
		}
		f.schema, f.nullable = m.plain(property.value)
		m.shape(&f, depth)
		fields = append(fields, f)
	}
	return fields
}

// shape decides how a field asks.
func (m *formMaker) shape(f *formField, depth int) {
	if f.choices = m.choices(f.schema); f.choices != nil {
		f.asks = asksChoice
		return
	}
	switch kind := f.schema.kind(); kind {
	case "object":
		if len(f.schema.Properties) > 0 && depth < maxFormDepth {
			f.asks, f.fields = asksGroup, m.fields(f.schema, *f, depth+1)
		}
	case "array":
		m.shapeList(f)
	case "boolean":
		f.asks = asksFlag
		if !f.insists && (!f.top || len(f.schema.Default) == 0) {
			f.asks, f.choices = asksChoice, []formChoice{{"true", "true"}, {"false", "false"}} // it may be left out
		}
	default:
		f.asks = plainAsks(kind)
	}
}

// shapeList asks for a list of plain things; any other list is written as JSON.
func (m *formMaker) shapeList(f *formField) {
	items, null := m.plain(f.schema.Items)
	if null {
		return
	}
	if f.choices = m.choices(items); f.choices != nil {
		f.asks = asksSeveral
		if len(f.choices) > maxSeveral || !items.plainChoices() {
			f.asks, f.choices = asksJSON, nil
		}
		return
	}
	if f.item = plainAsks(items.kind()); f.item != asksJSON {
		f.asks = asksLines
	}
}

// plainChoices tells whether the choices are words.
func (s schema) plainChoices() bool {
	return !slices.ContainsFunc(s.Enum.value, func(v json.RawMessage) bool { return len(v) == 0 || v[0] == '{' || v[0] == '[' })
}

func plainAsks(kind string) asks {
	switch kind {
	case "string":
		return asksText
	case "number":
		return asksNumber
	case "integer":
		return asksInteger
	default:
		return asksJSON
	}
}

// kind is the one type of a schema; empty: it has none, or several.
func (s schema) kind() string {
	switch {
	case len(s.Type) == 1:
		return s.Type[0]
	case len(s.Type) == 0 && len(s.Properties) > 0:
		return "object"
	default:
		return ""
	}
}

// choices are the values that a schema allows, where it lists them: an enum, a const, or a union of titled constants.
func (m *formMaker) choices(s schema) []formChoice {
	listed := s.Enum.value
	if len(s.Const) > 0 {
		listed = []json.RawMessage{s.Const}
	}
	var choices []formChoice
	for _, v := range listed {
		choices = append(choices, formChoice{value: compact(v), label: spell(v)})
	}
	if choices == nil {
		choices = m.titled(s)
	}
	if len(choices) > maxFormChoices {
		return nil
	}
	return slices.DeleteFunc(choices, func(c formChoice) bool { return c.value == "null" })
}

// titled are the choices of a union of constants, each with its title; nil: it is another union.
func (m *formMaker) titled(s schema) []formChoice {
	var choices []formChoice
	for _, raw := range s.union() {
		side, ok := readSchema(raw)
		if !ok || len(side.Const) == 0 {
			return nil
		}
		label := side.Title.value
		if label == "" {
			label = spell(side.Const)
		}
		choices = append(choices, formChoice{value: compact(side.Const), label: label})
	}
	return choices
}

func compact(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return ""
	}
	return out.String()
}

// long tells whether a text is likely to have several lines.
func (f formField) long() bool {
	if f.schema.Format.value != "" {
		return false
	}
	if most, err := strconv.Atoi(string(f.schema.MaxLength)); err == nil {
		return most > 200
	}
	name := strings.ToLower(f.key)
	return slices.ContainsFunc([]string{"body", "text", "content", "markdown", "description", "message", "prompt", "code", "sql"},
		func(word string) bool { return strings.HasSuffix(name, word) })
}
