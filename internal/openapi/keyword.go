package openapi

import (
	"regexp"
	"strings"

	"patchbay/internal/jsonschema"
)

// subschemas says where a keyword has schemas.
type subschemas int

const (
	noSchemas subschemas = iota
	someSchemas
)

// keywordRule says how a keyword of a Schema Object is written.
type keywordRule struct {
	schemas subschemas
	answers bool // also written for answers
	write   func(*schemaWriter, keywordUse)
}

// keywordUse is a keyword in a schema.
type keywordUse struct {
	out    *jsonschema.Node // the schema that is written
	schema value            // the one that is read
	name   string
	value  value
	level  int
}

// newKeywords returns the keywords that are written. All others say nothing about values, or are of OpenAPI alone.
func newKeywords() map[string]*keywordRule {
	number, truth, text := &keywordRule{write: (*schemaWriter).writeNumber}, &keywordRule{write: (*schemaWriter).writeTruth}, (*schemaWriter).writeText
	one := &keywordRule{schemas: someSchemas, write: (*schemaWriter).writeOne}
	list := &keywordRule{schemas: someSchemas, answers: true, write: (*schemaWriter).writeList}
	return map[string]*keywordRule{
		"title":            {write: text},
		"description":      {answers: true, write: text},
		"contentEncoding":  {answers: true, write: text},
		"contentMediaType": {answers: true, write: text},
		"format":           {write: (*schemaWriter).writeFormat},
		"pattern":          {write: (*schemaWriter).writePattern},
		"enum":             {write: (*schemaWriter).writeEnum},
		"const":            {write: (*schemaWriter).writeData},
		"default":          {write: (*schemaWriter).writeData},
		"example":          {write: (*schemaWriter).writeExample},
		"examples":         {write: (*schemaWriter).writeExamples},
		"required":         {write: (*schemaWriter).writeRequired},
		"deprecated":       {answers: true, write: (*schemaWriter).writeTruth},
		"uniqueItems":      truth,

		"multipleOf": {write: (*schemaWriter).writeMultiple}, "maximum": {write: (*schemaWriter).writeBound}, "minimum": {write: (*schemaWriter).writeBound},
		"exclusiveMaximum": number, "exclusiveMinimum": number, "maxLength": number, "minLength": number, "maxItems": number, "minItems": number,
		"maxProperties": number, "minProperties": number, "maxContains": number, "minContains": number,

		"items":                {schemas: someSchemas, answers: true, write: (*schemaWriter).writeItems},
		"additionalProperties": {schemas: someSchemas, answers: true, write: (*schemaWriter).writeOne},
		"properties":           {schemas: someSchemas, answers: true, write: (*schemaWriter).writeProperties},
		"patternProperties":    {schemas: someSchemas, write: (*schemaWriter).writeMap},
		"dependentSchemas":     {schemas: someSchemas, write: (*schemaWriter).writeMap},
		"dependentRequired":    {write: (*schemaWriter).writeDependentRequired},
		"allOf":                list, "anyOf": list, "oneOf": list, "prefixItems": {schemas: someSchemas, write: (*schemaWriter).writeList},
		"not": {schemas: someSchemas, write: (*schemaWriter).writeCondition}, "if": {schemas: someSchemas, write: (*schemaWriter).writeCondition}, "then": one, "else": one, "contains": one, "propertyNames": one, "unevaluatedItems": one, "unevaluatedProperties": one,
	}
}

// writeKeyword writes a member of a schema.
func (w *schemaWriter) writeKeyword(out *jsonschema.Node, schema value, m jsonschema.Member, level int) {
	k := w.document.keywords[m.Name]
	if k == nil || w.output && !k.answers || w.left <= 0 {
		return
	}
	w.left -= len(m.Name) + len(`"":,`)
	k.write(w, keywordUse{out, schema, m.Name, value{m.Value, schema.source}, level})
}

// setData sets a keyword to data of the document.
func (w *schemaWriter) setData(u keywordUse, data *jsonschema.Node) {
	w.left -= data.EstimateSize(maxEnumBytes)
	u.out.Set(u.name, data)
}

func (w *schemaWriter) writeText(u keywordUse) {
	if text := shortenText(u.value.Text(), maxTextBytes); text != "" {
		w.setData(u, jsonschema.NewString(text))
	}
}

var formatCharacters = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (w *schemaWriter) writeFormat(u keywordUse) {
	if format := u.value.Text(); formatCharacters.MatchString(format) && format != "constructor" && len(format) <= 40 {
		w.setData(u, u.value.Node)
	}
}

// quotedPattern is a pattern in the manner of a JavaScript literal. Its slashes would count.
var quotedPattern = regexp.MustCompile(`^/.*/[a-z]*$`)

func (w *schemaWriter) writePattern(u keywordUse) {
	if text := u.value.Text(); text != "" && len(text) <= maxDataBytes && !quotedPattern.MatchString(text) {
		w.setData(u, u.value.Node)
	}
}

func (w *schemaWriter) writeTruth(u keywordUse) {
	if u.value.Is(jsonschema.True) {
		u.out.Set(u.name, u.value.Node)
	}
}

// isExact reports whether JavaScript represents a number exactly. Bounds such as 2^63-1 are not.
func isExact(n *jsonschema.Node) bool {
	return n.Is(jsonschema.Number) && len(n.Raw) <= 15 && !strings.ContainsAny(n.Raw, "eE")
}

func (w *schemaWriter) writeNumber(u keywordUse) {
	if isExact(u.value.Node) {
		w.setData(u, u.value.Node)
	}
}

// writeMultiple leaves out multiples of 0 and below, which are errors.
func (w *schemaWriter) writeMultiple(u keywordUse) {
	if raw := u.value.Node; isExact(raw) && !strings.HasPrefix(raw.Raw, "-") && strings.Trim(raw.Raw, "0.") != "" {
		w.setData(u, raw)
	}
}

// writeBound writes maximum or minimum. Until 3.0, a truth beside it makes it exclusive.
func (w *schemaWriter) writeBound(u keywordUse) {
	exclusive := map[string]string{"maximum": "exclusiveMaximum", "minimum": "exclusiveMinimum"}[u.name]
	if u.schema.IsTrue(exclusive) {
		u.name = exclusive
	}
	w.writeNumber(u)
}

// writeEnum writes an enumeration. A huge one is left out.
func (w *schemaWriter) writeEnum(u keywordUse) {
	items := u.value.List()
	if len(items) == 0 || len(items) > maxEnum || u.value.EstimateSize(maxEnumBytes) > maxEnumBytes {
		return
	}
	enum, seen := jsonschema.NewArray(), map[string]bool{}
	for _, item := range items {
		if raw := string(item.AppendTo(nil)); !seen[raw] && isShallow(item, 0) {
			seen[raw] = true
			enum.Items = append(enum.Items, item)
		}
	}
	if len(enum.Items) > 0 {
		w.setData(u, enum)
	}
}

// identifiers are keywords that mean something to Ajv even within data.
var identifiers = map[string]bool{
	"$id": true, "$anchor": true, "$dynamicAnchor": true, "$recursiveAnchor": true, "$dynamicRef": true, "$recursiveRef": true, "__proto__": true,
}

// isShallow reports whether data can be part of a schema.
func isShallow(n *jsonschema.Node, level int) bool {
	if level > 6 {
		return false
	}
	for _, m := range n.Members {
		if identifiers[m.Name] || !isShallow(m.Value, level+1) {
			return false
		}
	}
	for _, item := range n.Items {
		if !isShallow(item, level+1) {
			return false
		}
	}
	return true
}

func isSmallData(n *jsonschema.Node) bool {
	return n != nil && n.EstimateSize(maxDataBytes) <= maxDataBytes && isShallow(n, 0)
}

func (w *schemaWriter) writeData(u keywordUse) {
	if isSmallData(u.value.Node) {
		w.setData(u, u.value.Node)
	}
}

// writeExample writes the example of OpenAPI 3.0 as the list of JSON Schema. Only scalars are worth their tokens.
func (w *schemaWriter) writeExample(u keywordUse) {
	if u.value.Is(jsonschema.Object) || u.value.Is(jsonschema.Array) || !isSmallData(u.value.Node) || u.schema.Get("examples").List() != nil {
		return
	}
	u.name = "examples"
	w.setData(u, jsonschema.NewArray(u.value.Node))
}

func (w *schemaWriter) writeExamples(u keywordUse) {
	if u.value.Is(jsonschema.Array) && isSmallData(u.value.Node) {
		w.setData(u, u.value.Node)
	}
}

// writeRequired leaves out what only answers have.
func (w *schemaWriter) writeRequired(u keywordUse) {
	var names []string
	seen := map[string]bool{}
	properties := u.schema.Get("properties")
	for _, item := range u.value.List() {
		name := item.Text()
		if item.Is(jsonschema.String) && !seen[name] && !w.isLeftOut(properties.Find(name)) {
			seen[name] = true
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		w.setData(u, jsonschema.NewStrings(names))
	}
}

// isLeftOut reports whether a property is of requests or answers only, and of the other ones.
func (w *schemaWriter) isLeftOut(property value) bool {
	if property.Node == nil {
		return false
	}
	name := "readOnly"
	if w.output {
		name = "writeOnly"
	}
	if property.IsTrue(name) {
		return true
	}
	target, ref := w.document.followRef(property)
	return ref != "" && target.IsTrue(name)
}

func (w *schemaWriter) writeOne(u keywordUse) {
	if u.value.Is(jsonschema.Object) || u.value.Is(jsonschema.True) || u.value.Is(jsonschema.False) && !w.output {
		u.out.Set(u.name, w.writeSchema(u.value, u.level+1))
	}
}

// writeCondition writes a schema that makes others narrower if it is wider. So it is written only as a whole.
func (w *schemaWriter) writeCondition(u keywordUse) {
	if !hasReference(u.value.Node, 0) && u.level+10 < maxSchemaLevels {
		if w.writeOne(u); w.isCut() {
			u.out.Drop(u.name)
		}
	}
}

// hasReference reports whether a schema refers to others, or is nested deeply.
func hasReference(n *jsonschema.Node, level int) bool {
	if level > 8 || n.Get("$ref") != nil {
		return true
	}
	for _, m := range n.Members {
		if hasReference(m.Value, level+1) {
			return true
		}
	}
	for _, item := range n.Items {
		if hasReference(item, level+1) {
			return true
		}
	}
	return false
}

// writeItems writes a list of schemas, of drafts before 2020-12, as prefixItems.
func (w *schemaWriter) writeItems(u keywordUse) {
	if !u.value.Is(jsonschema.Array) {
		w.writeOne(u)
	} else if u.name = "prefixItems"; !w.output {
		w.writeList(u)
	}
}

// writeList writes a list of schemas. Of alternatives at least one has to match: in most documents they overlap, although
// they say exactly one, and APIs accept what matches several.
func (w *schemaWriter) writeList(u keywordUse) {
	list := jsonschema.NewArray()
	for _, schema := range u.value.Values() {
		list.Items = append(list.Items, w.writeSchema(schema, u.level+2))
	}
	if u.name == "oneOf" {
		u.name = "anyOf" // of a schema with both, the first counts
	}
	if len(list.Items) > 0 && u.out.Get(u.name) == nil {
		u.out.Set(u.name, list)
	}
}

func (w *schemaWriter) writeProperties(u keywordUse) {
	properties := jsonschema.NewObject()
	for _, m := range u.value.Fields() {
		property := value{m.Value, u.value.source}
		if w.left <= 0 || w.isLeftOut(property) || w.output && identifiers[m.Name] {
			continue
		}
		w.left -= len(m.Name) + len(`"":,{}`)
		properties.Members = append(properties.Members, jsonschema.Member{Name: m.Name, Value: w.writeSchema(property, u.level+2)})
	}
	u.out.Set(u.name, properties)
}

func (w *schemaWriter) writeMap(u keywordUse) {
	schemas := jsonschema.NewObject()
	for _, m := range u.value.Fields() {
		w.left -= len(m.Name) + len(`"":,{}`)
		schemas.Members = append(schemas.Members, jsonschema.Member{Name: m.Name, Value: w.writeSchema(value{m.Value, u.value.source}, u.level+2)})
	}
	u.out.Set(u.name, schemas)
}

func (w *schemaWriter) writeDependentRequired(u keywordUse) {
	for _, m := range u.value.Fields() {
		if !m.Value.Is(jsonschema.Array) {
			return
		}
	}
	if u.value.Is(jsonschema.Object) && isSmallData(u.value.Node) {
		w.setData(u, u.value.Node)
	}
}
