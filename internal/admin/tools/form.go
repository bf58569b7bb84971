package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"patchbay/internal/i18n"
	"patchbay/internal/jsonschema"
)

// Bounds of a form made from a schema.
const (
	maxFormSchema  = 128 << 10 // bytes
	maxFormFields  = 100
	maxFormDepth   = 4
	maxFormChoices = 300
	maxCheckboxes  = 24        // choices shown as checkboxes
	maxChoiceBytes = 256 << 10 // of all choices
	maxKeyBytes    = 1 << 10   // of a property's name
	maxFillBytes   = 4 << 10   // of a default that is filled in
)

// toolForm is a form for a tool's arguments. The zero value has no fields.
type toolForm struct {
	fields         []formField
	jsonOnlyReason string // why the arguments must be written as JSON; empty: the fields cover all of them
}

// fieldKind is the kind of a form field.
type fieldKind int

const (
	fieldJSON fieldKind = iota // any value without a better kind
	fieldText
	fieldNumber
	fieldInteger
	fieldFlag    // true or false, always sent
	fieldChoice  // one of the choices
	fieldLines   // a list, one item per line
	fieldSeveral // a list of some of the choices
	fieldGroup   // an object
)

// formField is the field of one property.
type formField struct {
	name           string // of the control: its path in the schema, "arg.2.0"
	key            string // of the property
	schema         pageSchema
	kind           fieldKind
	itemKind       fieldKind // of fieldLines
	choices        []formChoice
	fields         []formField // of fieldGroup
	required       bool        // by its parent object
	alwaysRequired bool        // required, and so are all objects above it
	alwaysSent     bool        // all objects above it are always sent, so that a default may be filled in
	nullable       bool
}

type formChoice struct {
	value string // as JSON, without white space
	label string
}

// formBuilder builds fields from a schema.
type formBuilder struct {
	*schemaDocument
	remaining   int // number of fields that may still be added
	choiceBytes int // that may still be added
	hasLongKey  bool
}

// newForm builds a form from a tool's input schema.
func (d *schemaDocument) newForm(ctx context.Context) toolForm {
	if d.size > maxFormSchema || !d.isWhole {
		return toolForm{jsonOnlyReason: i18n.T(ctx, "Schema too large for a form. Enter a JSON object.")}
	}
	m := &formBuilder{schemaDocument: d, remaining: maxFormFields, choiceBytes: maxChoiceBytes}
	s, _ := m.resolve(d.root)
	if len(s.properties) == 0 && (len(s.alternatives()) > 0 || len(s.allOf) > 0 || s.ref != nil) {
		return toolForm{jsonOnlyReason: i18n.T(ctx, "Schema too complex for a form. Enter a JSON object.")}
	}
	fields := m.buildFields(s, formField{name: "arg", required: true, alwaysRequired: true, alwaysSent: true}, 1)
	if m.hasLongKey {
		return toolForm{jsonOnlyReason: i18n.T(ctx, "Schema too complex for a form. Enter a JSON object.")}
	}
	if m.remaining < 0 {
		return toolForm{jsonOnlyReason: i18n.T(ctx, "Too many parameters for a form. Enter a JSON object.")}
	}
	return toolForm{fields: fields}
}

func (b *formBuilder) buildFields(s pageSchema, parent formField, depth int) []formField {
	var fields []formField
	for i, property := range s.properties {
		if b.remaining--; b.remaining < 0 {
			return nil
		}
		b.hasLongKey = b.hasLongKey || len(property.Name) > maxKeyBytes
		required := s.required[property.Name]
		f := formField{
			name: parent.name + "." + strconv.Itoa(i), key: property.Name,
			required: required, alwaysRequired: required && parent.alwaysRequired, alwaysSent: parent.alwaysRequired,
		}
		f.schema, f.nullable = b.resolve(property.Value)
		b.setKind(&f, depth)
		fields = append(fields, f)
	}
	return fields
}

// setKind decides the kind of a field.
func (b *formBuilder) setKind(f *formField, depth int) {
	if f.choices = b.listChoices(f.schema); f.choices != nil {
		f.kind = fieldChoice
		return
	}
	switch kind := f.schema.singleType(); kind {
	case "object":
		if len(f.schema.properties) > 0 && depth < maxFormDepth {
			f.kind, f.fields = fieldGroup, b.buildFields(f.schema, *f, depth+1)
		}
	case "array":
		b.setListKind(f)
	case "boolean":
		f.kind = fieldFlag
		if !f.alwaysRequired && (!f.alwaysSent || len(f.schema.defaultValue) == 0) {
			f.kind, f.choices = fieldChoice, []formChoice{{"true", "true"}, {"false", "false"}} // it may be left out
		}
	default:
		f.kind = kindForType(kind)
	}
}

// setListKind makes a field for a list of plain values. Any other list is written as JSON.
func (b *formBuilder) setListKind(f *formField) {
	items, null := b.resolve(f.schema.items)
	if null {
		return
	}
	if f.choices = b.listChoices(items); f.choices != nil {
		f.kind = fieldSeveral
		if len(f.choices) > maxCheckboxes || !items.hasPlainChoices() {
			f.kind, f.choices = fieldJSON, nil
		}
		return
	}
	if f.itemKind = kindForType(items.singleType()); f.itemKind != fieldJSON {
		f.kind = fieldLines
	}
}

// hasPlainChoices reports whether all choices are strings.
func (s pageSchema) hasPlainChoices() bool {
	return !slices.ContainsFunc(s.enum, func(v *jsonschema.Node) bool { return v.Kind == jsonschema.Object || v.Kind == jsonschema.Array })
}

func kindForType(kind string) fieldKind {
	switch kind {
	case "string":
		return fieldText
	case "number":
		return fieldNumber
	case "integer":
		return fieldInteger
	default:
		return fieldJSON
	}
}

// singleType is the schema's only type; empty if it has none or several.
func (s pageSchema) singleType() string {
	switch {
	case len(s.types) == 1:
		return s.types[0]
	case len(s.types) == 0 && len(s.properties) > 0:
		return "object"
	default:
		return ""
	}
}

// listChoices are the values that a schema enumerates: enum, const, or a union of titled constants.
func (b *formBuilder) listChoices(s pageSchema) []formChoice {
	var choices []formChoice
	switch {
	case len(s.constValue) > 0:
		choices = b.appendChoice(nil, s.constValue, "")
	case len(s.enum) > maxFormChoices:
		return nil
	default:
		for _, v := range s.enum {
			choices = b.appendChoice(choices, v.Raw, "")
		}
	}
	if choices == nil {
		choices = b.listTitledChoices(s)
	}
	if b.choiceBytes < 0 {
		return nil
	}
	return slices.DeleteFunc(choices, func(c formChoice) bool { return c.value == "null" })
}

// listTitledChoices are the constants of a union, with titles; nil for any other union.
func (b *formBuilder) listTitledChoices(s pageSchema) []formChoice {
	union := s.alternatives()
	if len(union) > maxFormChoices {
		return nil
	}
	var choices []formChoice
	for _, side := range union {
		constant := side.Find("const")
		if constant == nil {
			return nil
		}
		choices = b.appendChoice(choices, constant.Raw, side.Find("title").Text())
	}
	return choices
}

// appendChoice adds a choice while the bytes suffice. Without a title its label is its value.
func (b *formBuilder) appendChoice(choices []formChoice, raw, title string) []formChoice {
	if b.choiceBytes -= len(raw) + len(title); b.choiceBytes < 0 {
		return choices
	}
	if title == "" {
		title = FormatValue(raw)
	}
	return append(choices, formChoice{value: compactJSON(raw), label: title})
}

func compactJSON[T string | json.RawMessage](raw T) string {
	var out bytes.Buffer
	if json.Compact(&out, []byte(raw)) != nil {
		return ""
	}
	return out.String()
}

// isLong reports whether a text probably has several lines.
func (f formField) isLong() bool {
	if f.schema.format != "" {
		return false
	}
	if maxLength, err := strconv.Atoi(f.schema.maxLength); err == nil {
		return maxLength > 200
	}
	name := strings.ToLower(f.key)
	return slices.ContainsFunc([]string{"body", "text", "content", "markdown", "description", "message", "prompt", "code", "sql"},
		func(word string) bool { return strings.HasSuffix(name, word) })
}
