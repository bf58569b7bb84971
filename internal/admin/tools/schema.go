package tools

import (
	"encoding/json"
	"slices"

	"patchbay/internal/jsonschema"
)

// pageSchema is the part of a JSON Schema that pages use: for a table of parameters, and for a form. A keyword
// with a value of the wrong type is absent.
type pageSchema struct {
	types        []string
	title        string
	description  string
	properties   []jsonschema.Member
	required     map[string]bool
	items        *jsonschema.Node
	enum         []*jsonschema.Node
	constValue   string // JSON; empty: absent
	defaultValue string // JSON; empty: absent
	minimum      string
	maximum      string
	minLength    string
	maxLength    string
	minItems     string
	maxItems     string
	format       string
	pattern      string
	writeOnly    bool
	ref          *jsonschema.Node // nil: none
	allOf        []*jsonschema.Node
	anyOf        []*jsonschema.Node
	oneOf        []*jsonschema.Node
}

// Bounds of a schema on a page. What exceeds them is not shown.
const (
	maxPageSchema   = 1 << 20 // bytes
	maxSchemaValues = 20_000  // JSON values
	maxTypes        = 16      // of one schema
	maxNumberBytes  = 64
)

// schemaDocument is a whole schema, decoded once for the form and for the table of parameters.
type schemaDocument struct {
	root       *jsonschema.Node       // nil: invalid, or too large
	size       int                    // of the text, in bytes
	isWhole    bool                   // all of it was decoded
	references *jsonschema.References // nil: references are not resolved
	schemas    map[*jsonschema.Node]*pageSchema
}

func newDocument(raw json.RawMessage) *schemaDocument {
	d := &schemaDocument{size: len(raw), schemas: map[*jsonschema.Node]*pageSchema{}}
	d.root, d.isWhole = jsonschema.Decode(raw, jsonschema.Limits{Bytes: maxPageSchema, Values: maxSchemaValues, KeepDuplicates: true})
	d.references = jsonschema.NewReferences(d.root, nil)
	return d
}

// readSchema returns the value as a schema, read once; ok is false if it is none.
func (d *schemaDocument) readSchema(n *jsonschema.Node) (s pageSchema, ok bool) {
	if !n.Is(jsonschema.Object) {
		return pageSchema{}, n.Is(jsonschema.Null)
	}
	known := d.schemas[n]
	if known == nil {
		known = &pageSchema{}
		for _, m := range n.Members {
			known.setKeyword(m.Name, m.Value)
		}
		d.schemas[n] = known
	}
	return *known, true
}

func (s *pageSchema) setKeyword(name string, value *jsonschema.Node) {
	switch name {
	case "type":
		s.types = typeNames(value)
	case "title":
		s.title = value.Text()
	case "description":
		s.description = value.Text()
	case "properties":
		s.properties = value.Members
	case "required":
		s.required = textSet(value.Items)
	case "items":
		s.items = value
	case "enum":
		s.enum = value.Items
	case "const":
		s.constValue = value.Raw
	case "default":
		s.defaultValue = value.Raw
	case "minimum":
		s.minimum = shortNumber(value)
	case "maximum":
		s.maximum = shortNumber(value)
	case "minLength":
		s.minLength = shortNumber(value)
	case "maxLength":
		s.maxLength = shortNumber(value)
	case "minItems":
		s.minItems = shortNumber(value)
	case "maxItems":
		s.maxItems = shortNumber(value)
	case "format":
		s.format = value.Text()
	case "pattern":
		s.pattern = value.Text()
	case "writeOnly":
		s.writeOnly = value.Is(jsonschema.True)
	case "$ref":
		s.ref = readRef(value)
	case "allOf":
		s.allOf = value.Items
	case "anyOf":
		s.anyOf = value.Items
	case "oneOf":
		s.oneOf = value.Items
	}
}

// shortNumber returns a number as written, if it is short.
func shortNumber(n *jsonschema.Node) string {
	if len(n.Raw) > maxNumberBytes {
		return ""
	}
	return n.Raw
}

// textSet returns the strings of a list.
func textSet(items []*jsonschema.Node) map[string]bool {
	set := map[string]bool{}
	for _, item := range items {
		if item.Is(jsonschema.String) {
			set[item.Text()] = true
		}
	}
	return set
}

// typeNames returns the value of the keyword type: one name or several.
func typeNames(n *jsonschema.Node) []string {
	if n.Is(jsonschema.String) {
		return []string{n.Text()}
	}
	if len(n.List()) > maxTypes {
		return nil
	}
	var names []string
	for _, item := range n.List() {
		if !item.Is(jsonschema.String) {
			return nil
		}
		names = append(names, item.Text())
	}
	return names
}

// isNull reports whether a schema allows null alone.
func isNull(n *jsonschema.Node) bool {
	return slices.Equal(typeNames(n.Find("type")), []string{"null"}) || n.Find("const").Is(jsonschema.Null)
}
