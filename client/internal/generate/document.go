package main

import (
	"encoding/json"
	"slices"
	"strings"
)

// apiDocument has the parts of the OpenAPI document that are used.
type apiDocument struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	ID          string                 `json:"operationId"`
	Summary     string                 `json:"summary"`
	Description string                 `json:"description"`
	Role        string                 `json:"x-least-role"`
	Parameters  []parameter            `json:"parameters"`
	Body        *mediaContent          `json:"requestBody"`
	Responses   map[string]apiResponse `json:"responses"`
}

type apiResponse = mediaContent

type parameter struct {
	Name        string `json:"name"`
	In          string `json:"in"`
	Description string `json:"description"`
	Schema      schema `json:"schema"`
}

type mediaContent struct {
	Content map[string]struct {
		Schema schema `json:"schema"`
	} `json:"content"`
}

// jsonSchema returns the schema of the JSON body; false: none.
func (c *mediaContent) jsonSchema() (schema, bool) {
	if c == nil {
		return schema{}, false
	}
	as, ok := c.Content["application/json"]
	return as.Schema, ok
}

type schema struct {
	Ref         string            `json:"$ref"`
	Type        typeNames         `json:"type"`
	Format      string            `json:"format"`
	Description string            `json:"description"`
	Enum        []any             `json:"enum"`
	Default     any               `json:"default"`
	Items       *schema           `json:"items"`
	OneOf       []schema          `json:"oneOf"`
	AnyOf       []schema          `json:"anyOf"`
	Properties  map[string]schema `json:"properties"`
	Required    []string          `json:"required"`
	Additional  json.RawMessage   `json:"additionalProperties"`
}

type typeNames []string

func (t *typeNames) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		*t = make(typeNames, 1)
		return json.Unmarshal(raw, &(*t)[0])
	}
	return json.Unmarshal(raw, (*[]string)(t))
}

const schemaPrefix = "#/components/schemas/"

func (s schema) name() string { return strings.TrimPrefix(s.Ref, schemaPrefix) }

// additionalValues returns the schema of additionalProperties; false: named properties alone.
func (s schema) additionalValues() (schema, bool) {
	var of schema
	return of, len(s.Additional) > 0 && json.Unmarshal(s.Additional, &of) == nil
}

// withoutNull returns the other alternative of a nullable schema.
func (s schema) withoutNull() (schema, bool) {
	isNull := func(o schema) bool { return len(o.Type) == 1 && o.Type[0] == "null" }
	if at := slices.IndexFunc(s.OneOf, isNull); at >= 0 && len(s.OneOf) == 2 {
		other := s.OneOf[1-at]
		other.Description = s.Description
		return other, true
	}
	if slices.Contains(s.Type, "null") {
		s.Type = slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t == "null" })
		return s, true
	}
	return s, false
}

// sentSchemas returns the names of schemas in request bodies.
func (d apiDocument) sentSchemas() map[string]bool {
	names := map[string]bool{}
	for _, operations := range d.Paths {
		for _, op := range operations {
			if body, ok := op.Body.jsonSchema(); ok {
				d.collectNames(body, names)
			}
		}
	}
	return names
}

func (d apiDocument) collectNames(s schema, names map[string]bool) {
	if s.Ref != "" {
		if names[s.name()] {
			return
		}
		names[s.name()] = true
		s = d.Components.Schemas[s.name()]
	}
	for _, p := range s.Properties {
		d.collectNames(p, names)
	}
	if s.Items != nil {
		d.collectNames(*s.Items, names)
	}
	for _, o := range s.OneOf {
		d.collectNames(o, names)
	}
}
