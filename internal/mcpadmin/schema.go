package mcpadmin

import (
	"encoding/json"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"patchbay/internal/agentview"
	"patchbay/internal/mcp/serve"
)

const schemaDialect = "https://json-schema.org/draft/2020-12/schema"

// property is one argument of a tool.
type property struct {
	name     string
	required bool
	schema   *jsonschema.Schema
}

// objectSchema is an input schema with exactly these properties.
func objectSchema(properties ...property) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Schema: schemaDialect, Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
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

func (p property) asRequired() property {
	p.required = true
	p.schema.MinLength = new(1)
	return p
}

// invalidArguments refuses arguments for a reason that the schema cannot express.
func invalidArguments(sentence string) error { return serve.InvalidParams(sentence) }

func (p property) withMaxLength(characters int) property {
	p.schema.MaxLength = &characters
	return p
}

// textProperty is an argument of at most 2000 characters.
func textProperty(name, about string) property {
	return property{name: name, schema: &jsonschema.Schema{Type: "string", Description: about, MaxLength: new(2000)}}
}

func choiceProperty(name, about string, words ...string) property {
	p := textProperty(name, about)
	for _, w := range words {
		p.schema.Enum = append(p.schema.Enum, w)
	}
	return p
}

func integerProperty(name, about string, minimum, maximum float64) property {
	return property{name: name, schema: &jsonschema.Schema{Type: "integer", Description: about, Minimum: &minimum, Maximum: &maximum}}
}

// maxListed and defaultListed are the maximum and default size of a page.
const (
	maxListed     = 100
	defaultListed = 25
)

func pagedSchema(properties ...property) *jsonschema.Schema {
	limit := integerProperty("limit", "Maximum number of items.", 1, maxListed)
	limit.schema.Default = json.RawMessage("25")
	return objectSchema(append(properties, limit, textProperty("cursor", "next_cursor of the previous page."))...)
}

type pageParams struct {
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor"`
}

func (p pageParams) pageLimit() int {
	if p.Limit == 0 {
		return defaultListed
	}
	return p.Limit
}

// newOutputSchema describes a tool's output. It panics for a type that cannot be described, which is a
// programming error.
func newOutputSchema[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {Description: "Any JSON."},
	}})
	if err != nil {
		panic(err)
	}
	s.Schema = schemaDialect
	return s
}

func compileSchema(s *jsonschema.Schema) *agentview.Schema {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return agentview.CompileSchema(raw)
}
