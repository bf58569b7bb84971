package main

import (
	"encoding/json"
	"slices"
	"strings"
)

// document is what of the OpenAPI document is read here.
type document struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	ID          string              `json:"operationId"`
	Summary     string              `json:"summary"`
	Description string              `json:"description"`
	Role        string              `json:"x-least-role"`
	Parameters  []parameter         `json:"parameters"`
	Body        *content            `json:"requestBody"`
	Responses   map[string]response `json:"responses"`
}

type response = content

type parameter struct {
	Name        string `json:"name"`
	In          string `json:"in"`
	Description string `json:"description"`
	Schema      schema `json:"schema"`
}

type content struct {
	Content map[string]struct {
		Schema schema `json:"schema"`
	} `json:"content"`
}

// json is the schema of what is sent as JSON, and whether anything is.
func (c *content) json() (schema, bool) {
	if c == nil {
		return schema{}, false
	}
	as, ok := c.Content["application/json"]
	return as.Schema, ok
}

type schema struct {
	Ref         string            `json:"$ref"`
	Type        types             `json:"type"`
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

// types is one type, or several.
type types []string

func (t *types) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		*t = make(types, 1)
		return json.Unmarshal(raw, &(*t)[0])
	}
	return json.Unmarshal(raw, (*[]string)(t))
}

const schemaPrefix = "#/components/schemas/"

func (s schema) name() string { return strings.TrimPrefix(s.Ref, schemaPrefix) }

// values is the schema of what an object has under any name; false: it has named properties alone.
func (s schema) values() (schema, bool) {
	var of schema
	return of, len(s.Additional) > 0 && json.Unmarshal(s.Additional, &of) == nil
}

// nullable parts null from the other that it may be.
func (s schema) nullable() (schema, bool) {
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

// sent are the schemas that request bodies use.
func (d document) sent() map[string]bool {
	names := map[string]bool{}
	for _, operations := range d.Paths {
		for _, op := range operations {
			if body, ok := op.Body.json(); ok {
				d.gather(body, names)
			}
		}
	}
	return names
}

func (d document) gather(s schema, names map[string]bool) {
	if s.Ref != "" {
		if names[s.name()] {
			return
		}
		names[s.name()] = true
		s = d.Components.Schemas[s.name()]
	}
	for _, p := range s.Properties {
		d.gather(p, names)
	}
	if s.Items != nil {
		d.gather(*s.Items, names)
	}
	for _, o := range s.OneOf {
		d.gather(o, names)
	}
}
