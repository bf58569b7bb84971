package toolfmt

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"patchbay/internal/jsonschema"
)

var noParameters = []byte(`{"type":"object","properties":{}}`)

const tooLarge = "Parameters are not listed: their schema is too large."

// convertParameters returns the input schema for a provider that reads JSON Schema: the server's own bytes,
// unless the provider would refuse them. unsaid is a sentence on what was left out; it may be empty.
//
//   - OpenAI: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level", "object
//     schema missing properties", "array schema missing items" (400 invalid_function_parameters).
//   - Anthropic: "input_schema does not support oneOf, allOf, or anyOf at the top level", "JSON schema is invalid. It must
//     match JSON Schema draft 2020-12", "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'" (400
//     invalid_request_error).
func convertParameters(raw json.RawMessage, f Format) (schema []byte, unsaid string) {
	v, isTooLarge := parseSchema(raw)
	if isTooLarge {
		return noParameters, tooLarge
	}
	if v == nil || v.Kind != jsonschema.Object || len(v.Members) == 0 {
		return noParameters, ""
	}
	m := schemaRepairer{format: f, changed: !utf8.Valid(raw)}
	m.repairSchema(v)
	v = m.repairRoot(v)
	size := v.EstimateSize(schemaLimits.Bytes)
	if m.changed && size > schemaLimits.Bytes {
		return noParameters, tooLarge
	}
	if f == Anthropic {
		unsaid = m.dropRefusedKeys(v)
	}
	if !m.changed {
		return bytes.TrimSpace(raw), ""
	}
	return v.AppendTo(make([]byte, 0, size)), unsaid
}

// schemaRepairer changes a schema so that a provider accepts it.
type schemaRepairer struct {
	format  Format
	changed bool
}

// repairSchema drops invalid keywords at any depth.
func (m *schemaRepairer) repairSchema(v *jsonschema.Node) {
	if v.Kind != jsonschema.Object {
		return
	}
	m.upgradeDraft(v)
	kept := v.Members[:0]
	for _, member := range v.Members {
		k, known := keywords[member.Name]
		if known && !k.allowsValue(member.Value) {
			m.changed = true
			continue
		}
		kept = append(kept, member)
		switch k.subschemas {
		case oneSchema:
			m.repairSchema(member.Value)
		case schemaList:
			for _, item := range member.Value.Items {
				m.repairSchema(item)
			}
		case schemaMap:
			for _, entry := range member.Value.Members {
				m.repairSchema(entry.Value)
			}
		}
	}
	v.Members = kept
	m.repairType(v)
}

// upgradeDraft rewrites older drafts: items as a list to prefixItems, a boolean exclusive bound to a number.
func (m *schemaRepairer) upgradeDraft(v *jsonschema.Node) {
	if tuple := v.GetKind("items", jsonschema.Array); tuple != nil {
		v.Drop("items")
		if v.Get("prefixItems") == nil && len(tuple.Items) > 0 {
			v.Set("prefixItems", tuple)
		}
		m.changed = true
	}
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		truth, limit := v.GetKind(exclusive, jsonschema.True), v.GetKind(bound, jsonschema.Number)
		if truth != nil && limit != nil {
			v.Set(exclusive, limit)
			v.Drop(bound)
			m.changed = true
		}
	}
}

// repairType repairs the schema's type, and adds the items of an array.
func (m *schemaRepairer) repairType(v *jsonschema.Node) {
	named := schemaTypes(v)
	if of := v.Get("type"); of != nil && (len(named) == 0 || !sameTypes(of, named)) {
		v.Drop("type")
		if len(named) == 1 {
			v.Set("type", jsonschema.NewString(named[0]))
		} else if len(named) > 1 {
			v.Set("type", jsonschema.NewStrings(named))
		}
		m.changed = true
	}
	if m.format == OpenAI && containsString(named, "array") && v.Get("items") == nil {
		v.Set("items", jsonschema.NewObject())
		m.changed = true
	}
	if enum := v.Get("enum"); enum != nil && len(enum.Items) == 0 {
		m.changed = v.Drop("enum")
	}
}

func sameTypes(declared *jsonschema.Node, named []string) bool {
	if declared.Kind == jsonschema.String {
		return declared.Text() == named[0]
	}
	return len(declared.Items) == len(named) && slices.EqualFunc(declared.Items, named, func(v *jsonschema.Node, name string) bool {
		return v.Kind == jsonschema.String && v.Text() == name
	})
}

// repairRoot makes the root an object that lists its own properties.
func (m *schemaRepairer) repairRoot(v *jsonschema.Node) *jsonschema.Node {
	refused := []string{"oneOf", "anyOf", "allOf"}
	if m.format == OpenAI {
		refused = append(refused, "enum", "not")
	}
	if v.Get("$ref") != nil || slices.ContainsFunc(refused[:3], func(name string) bool { return v.Get(name) != nil }) {
		w := newSchemaWalker(v)
		v = w.flattenObject(v)
		m.changed = true
	}
	for _, name := range refused {
		m.changed = v.Drop(name) || m.changed
	}
	if of := v.Get("type"); of == nil || of.Kind != jsonschema.String || of.Text() != "object" {
		v.Set("type", jsonschema.NewString("object"))
		m.changed = true
	}
	if v.Get("properties") == nil {
		v.Set("properties", jsonschema.NewObject())
		m.changed = true
	}
	return v
}

var anthropicKey = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// dropRefusedKeys removes the properties whose names Anthropic refuses, and names them in a sentence: a model
// may still send them.
func (m *schemaRepairer) dropRefusedKeys(v *jsonschema.Node) (unsaid string) {
	required := v.Get("required")
	refused := map[string]bool{} // only with required
	var list []byte
	properties := v.Get("properties")
	count := len(properties.Members)
	properties.Members = slices.DeleteFunc(properties.Members, func(p jsonschema.Member) bool {
		if anthropicKey.MatchString(p.Name) {
			return false
		}
		if len(list) <= maxOtherDescription { // more would be truncated
			list = append(jsonschema.AppendQuoted(list, truncateText(p.Name, 100)), ", "...)
		}
		if required != nil {
			refused[p.Name] = true
		}
		return true
	})
	if len(properties.Members) == count {
		return ""
	}
	m.changed = true
	v.Drop("additionalProperties") // false would forbid what was removed
	if required != nil {
		required.Items = slices.DeleteFunc(required.Items, func(item *jsonschema.Node) bool {
			return item.Kind != jsonschema.String || refused[item.Text()]
		})
	}
	return "Other arguments, which cannot be listed: " + strings.TrimSuffix(string(list), ", ") + "."
}

func containsString(list []string, s string) bool { return slices.Contains(list, s) }
