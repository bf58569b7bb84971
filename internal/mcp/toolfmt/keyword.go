package toolfmt

import (
	"strings"

	"patchbay/internal/jsonschema"
)

// keyword describes the valid values of a JSON Schema keyword (2020-12 and older drafts).
type keyword struct {
	valueKinds string // see [jsonschema.Kind]
	subschemas subschemaKind
}

// subschemaKind is how a keyword's value contains schemas.
type subschemaKind int

const (
	noSchema   subschemaKind = iota
	oneSchema                // the value is one
	schemaList               // a list of schemas
	schemaMap                // a map from names to schemas
)

// Values of keyword.valueKinds.
const (
	objectValue = "{"
	arrayValue  = "["
	stringValue = `"`
	numberValue = "0"
	boolValue   = "tf"
)

// keywords are the keywords whose value is checked. Others pass: a server may have its own.
var keywords = map[string]keyword{
	"type":                  {stringValue + arrayValue, noSchema},
	"enum":                  {arrayValue, noSchema},
	"required":              {arrayValue, noSchema},
	"properties":            {objectValue, schemaMap},
	"patternProperties":     {objectValue, schemaMap},
	"dependentSchemas":      {objectValue, schemaMap},
	"$defs":                 {objectValue, schemaMap},
	"definitions":           {objectValue, schemaMap},
	"allOf":                 {arrayValue, schemaList},
	"anyOf":                 {arrayValue, schemaList},
	"oneOf":                 {arrayValue, schemaList},
	"prefixItems":           {arrayValue, schemaList},
	"items":                 {objectValue + boolValue, oneSchema},
	"contains":              {objectValue + boolValue, oneSchema},
	"additionalProperties":  {objectValue + boolValue, oneSchema},
	"unevaluatedProperties": {objectValue + boolValue, oneSchema},
	"unevaluatedItems":      {objectValue + boolValue, oneSchema},
	"propertyNames":         {objectValue + boolValue, oneSchema},
	"not":                   {objectValue + boolValue, oneSchema},
	"if":                    {objectValue + boolValue, oneSchema},
	"then":                  {objectValue + boolValue, oneSchema},
	"else":                  {objectValue + boolValue, oneSchema},
	"title":                 {stringValue, noSchema},
	"description":           {stringValue, noSchema},
	"format":                {stringValue, noSchema},
	"pattern":               {stringValue, noSchema},
	"$ref":                  {stringValue, noSchema},
	"$schema":               {stringValue, noSchema},
	"$id":                   {stringValue, noSchema},
	"minimum":               {numberValue, noSchema},
	"maximum":               {numberValue, noSchema},
	"exclusiveMinimum":      {numberValue, noSchema},
	"exclusiveMaximum":      {numberValue, noSchema},
	"multipleOf":            {numberValue, noSchema},
	"minLength":             {numberValue, noSchema},
	"maxLength":             {numberValue, noSchema},
	"minItems":              {numberValue, noSchema},
	"maxItems":              {numberValue, noSchema},
	"minProperties":         {numberValue, noSchema},
	"maxProperties":         {numberValue, noSchema},
	"uniqueItems":           {boolValue, noSchema},
	"deprecated":            {boolValue, noSchema},
	"readOnly":              {boolValue, noSchema},
	"writeOnly":             {boolValue, noSchema},
	"examples":              {arrayValue, noSchema},
}

// allowsValue reports whether the keyword may have this value. The lists of the second group must not be empty.
func (k keyword) allowsValue(v *jsonschema.Node) bool {
	if strings.IndexByte(k.valueKinds, byte(v.Kind)) < 0 {
		return false
	}
	return k.subschemas != schemaList || len(v.Items) > 0
}

var typeNames = map[string]bool{
	"string": true, "number": true, "integer": true, "boolean": true, "array": true, "object": true, "null": true,
}

// maxTypes bounds the names that are read of a schema's type. There are seven.
const maxTypes = 16

// schemaTypes returns the valid names in a schema's type; nil: none.
func schemaTypes(v *jsonschema.Node) []string {
	of := v.Get("type")
	if of == nil {
		return nil
	}
	listed := of.Items[:min(len(of.Items), maxTypes)]
	if of.Kind == jsonschema.String {
		listed = []*jsonschema.Node{of}
	}
	var names []string
	for _, item := range listed {
		if item.Kind != jsonschema.String {
			continue
		}
		name := strings.ToLower(item.Text()) // OpenAPI's dialects use upper case
		if typeNames[name] && !containsString(names, name) {
			names = append(names, name)
		}
	}
	return names
}
