package mcpadmin

import (
	"encoding/json"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"patchbay/internal/access"
	"patchbay/internal/mcp/serve"
)

// dialect is the one that all schemas here are of.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// property is one argument of a tool.
type property struct {
	name     string
	required bool
	schema   *jsonschema.Schema
}

// object is the schema of a tool's arguments: these, and no others.
func object(properties ...property) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Schema: dialect, Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, p := range properties {
		s.Properties[p.name] = p.schema
		s.PropertyOrder = append(s.PropertyOrder, p.name)
		if p.required {
			s.Required = append(s.Required, p.name)
		}
	}
	return s
}

func (p property) must() property {
	p.required = true
	p.schema.MinLength = new(1)
	return p
}

// misfit refuses arguments for what no schema says, in a sentence.
func misfit(sentence string) error { return serve.InvalidParams(sentence) }

func (p property) atMost(characters int) property {
	p.schema.MaxLength = &characters
	return p
}

// text is an argument of at most 2000 characters.
func text(name, about string) property {
	return property{name: name, schema: &jsonschema.Schema{Type: "string", Description: about, MaxLength: new(2000)}}
}

// choice is one of some words.
func choice(name, about string, words ...string) property {
	p := text(name, about)
	for _, w := range words {
		p.schema.Enum = append(p.schema.Enum, w)
	}
	return p
}

func whole64(name, about string, least, most float64) property {
	return property{name: name, schema: &jsonschema.Schema{Type: "integer", Description: about, Minimum: &least, Maximum: &most}}
}

// mostListed is how many items a list gives at once, and usual how many where nobody says.
const (
	mostListed  = 100
	usualListed = 25
)

// paged are the arguments of a list.
func paged(properties ...property) *jsonschema.Schema {
	limit := whole64("limit", "How many items at most.", 1, mostListed)
	limit.schema.Default = json.RawMessage("25")
	return object(append(properties, limit, text("cursor", "next_cursor of the page before."))...)
}

// paging is what they are read into.
type paging struct {
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor"`
}

func (p paging) limit() int {
	if p.Limit == 0 {
		return usualListed
	}
	return p.Limit
}

// schemaOf describes what a tool gives. It panics where a type cannot be described, which no caller has a part in.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {Description: "Any JSON."},
	}})
	if err != nil {
		panic(err)
	}
	s.Schema = dialect
	return s
}

// compiled is a schema that arguments are held against.
func compiled(s *jsonschema.Schema) *access.Schema {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return access.CompileSchema(raw)
}
