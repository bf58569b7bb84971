package toolfmt

import "strings"

// keyword is what JSON Schema lets stand behind one of its words (2020-12, with what older drafts wrote).
type keyword struct {
	kinds string // of value
	holds holds
}

// holds says which schemas stand in a keyword's value.
type holds int

const (
	nothing  holds = iota
	aSchema        // the value is one
	aList          // of schemas
	aMapping       // of names to schemas
)

// The kinds of value.
const (
	anObject = "{"
	anArray  = "["
	aText    = `"`
	aNumber  = "0"
	aTruth   = "tf"
)

// keywords are the words whose value is checked. Others pass: a server may have words of its own.
var keywords = map[string]keyword{
	"type":                  {aText + anArray, nothing},
	"enum":                  {anArray, nothing},
	"required":              {anArray, nothing},
	"properties":            {anObject, aMapping},
	"patternProperties":     {anObject, aMapping},
	"dependentSchemas":      {anObject, aMapping},
	"$defs":                 {anObject, aMapping},
	"definitions":           {anObject, aMapping},
	"allOf":                 {anArray, aList},
	"anyOf":                 {anArray, aList},
	"oneOf":                 {anArray, aList},
	"prefixItems":           {anArray, aList},
	"items":                 {anObject + aTruth, aSchema},
	"contains":              {anObject + aTruth, aSchema},
	"additionalProperties":  {anObject + aTruth, aSchema},
	"unevaluatedProperties": {anObject + aTruth, aSchema},
	"unevaluatedItems":      {anObject + aTruth, aSchema},
	"propertyNames":         {anObject + aTruth, aSchema},
	"not":                   {anObject + aTruth, aSchema},
	"if":                    {anObject + aTruth, aSchema},
	"then":                  {anObject + aTruth, aSchema},
	"else":                  {anObject + aTruth, aSchema},
	"title":                 {aText, nothing},
	"description":           {aText, nothing},
	"format":                {aText, nothing},
	"pattern":               {aText, nothing},
	"$ref":                  {aText, nothing},
	"$schema":               {aText, nothing},
	"$id":                   {aText, nothing},
	"minimum":               {aNumber, nothing},
	"maximum":               {aNumber, nothing},
	"exclusiveMinimum":      {aNumber, nothing},
	"exclusiveMaximum":      {aNumber, nothing},
	"multipleOf":            {aNumber, nothing},
	"minLength":             {aNumber, nothing},
	"maxLength":             {aNumber, nothing},
	"minItems":              {aNumber, nothing},
	"maxItems":              {aNumber, nothing},
	"minProperties":         {aNumber, nothing},
	"maxProperties":         {aNumber, nothing},
	"uniqueItems":           {aTruth, nothing},
	"deprecated":            {aTruth, nothing},
	"readOnly":              {aTruth, nothing},
	"writeOnly":             {aTruth, nothing},
	"examples":              {anArray, nothing},
}

// takes tells whether the keyword may have a value. The lists of the second group may not be empty.
func (k keyword) takes(v *value) bool {
	if strings.IndexByte(k.kinds, v.kind) < 0 {
		return false
	}
	return k.holds != aList || len(v.items) > 0
}

var typeNames = map[string]bool{
	"string": true, "number": true, "integer": true, "boolean": true, "array": true, "object": true, "null": true,
}

// types are the types that a schema names; nil: it names none that there is.
func types(v *value) []string {
	of := v.get("type")
	if of == nil {
		return nil
	}
	listed := of.items
	if of.kind == '"' {
		listed = []*value{of}
	}
	var names []string
	for _, item := range listed {
		if item.kind != '"' {
			continue
		}
		name := strings.ToLower(unquote(item.raw)) // OpenAPI's dialects shout
		if typeNames[name] && !contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
