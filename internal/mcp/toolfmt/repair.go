package toolfmt

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

var noParameters = []byte(`{"type":"object","properties":{}}`)

const tooLarge = "Its parameters are not listed, because their schema is too large."

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
	if v == nil || v.kind != '{' || len(v.members) == 0 {
		return noParameters, ""
	}
	m := schemaRepairer{format: f, changed: !utf8.Valid(raw)}
	m.repairSchema(v)
	v = m.repairRoot(v)
	size := v.estimateSize(maxSchemaBytes)
	if m.changed && size > maxSchemaBytes {
		return noParameters, tooLarge
	}
	if f == Anthropic {
		unsaid = m.dropRefusedKeys(v)
	}
	if !m.changed {
		return bytes.TrimSpace(raw), ""
	}
	return v.write(make([]byte, 0, size)), unsaid
}

// schemaRepairer changes a schema so that a provider accepts it.
type schemaRepairer struct {
	format  Format
	changed bool
}

// repairSchema drops invalid keywords at any depth.
func (m *schemaRepairer) repairSchema(v *value) {
	if v.kind != '{' {
		return
	}
	m.upgradeDraft(v)
	kept := v.members[:0]
	for _, member := range v.members {
		k, known := keywords[member.name]
		if known && !k.allowsValue(member.value) {
			m.changed = true
			continue
		}
		kept = append(kept, member)
		switch k.subschemas {
		case oneSchema:
			m.repairSchema(member.value)
		case schemaList:
			for _, item := range member.value.items {
				m.repairSchema(item)
			}
		case schemaMap:
			for _, entry := range member.value.members {
				m.repairSchema(entry.value)
			}
		}
	}
	v.members = kept
	m.repairType(v)
}

// upgradeDraft rewrites older drafts: items as a list to prefixItems, a boolean exclusive bound to a number.
func (m *schemaRepairer) upgradeDraft(v *value) {
	if tuple := v.getKind("items", '['); tuple != nil {
		v.drop("items")
		if v.get("prefixItems") == nil && len(tuple.items) > 0 {
			v.set("prefixItems", tuple)
		}
		m.changed = true
	}
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		truth, limit := v.getKind(exclusive, 't'), v.getKind(bound, '0')
		if truth != nil && limit != nil {
			v.set(exclusive, limit)
			v.drop(bound)
			m.changed = true
		}
	}
}

// repairType repairs the schema's type, and adds the items of an array.
func (m *schemaRepairer) repairType(v *value) {
	named := schemaTypes(v)
	if of := v.get("type"); of != nil && (len(named) == 0 || !sameTypes(of, named)) {
		v.drop("type")
		if len(named) == 1 {
			v.set("type", newText(named[0]))
		} else if len(named) > 1 {
			v.set("type", newTexts(named))
		}
		m.changed = true
	}
	if m.format == OpenAI && containsString(named, "array") && v.get("items") == nil {
		v.set("items", newObject())
		m.changed = true
	}
	if enum := v.get("enum"); enum != nil && len(enum.items) == 0 {
		m.changed = v.drop("enum")
	}
}

func sameTypes(declared *value, named []string) bool {
	if declared.kind == '"' {
		return unquoteString(declared.raw) == named[0]
	}
	return len(declared.items) == len(named) && slices.EqualFunc(declared.items, named, func(v *value, name string) bool {
		return v.kind == '"' && unquoteString(v.raw) == name
	})
}

// repairRoot makes the root an object that lists its own properties.
func (m *schemaRepairer) repairRoot(v *value) *value {
	refused := []string{"oneOf", "anyOf", "allOf"}
	if m.format == OpenAI {
		refused = append(refused, "enum", "not")
	}
	if v.get("$ref") != nil || slices.ContainsFunc(refused[:3], func(name string) bool { return v.get(name) != nil }) {
		w := newSchemaWalker(v)
		v = w.flattenObject(v)
		m.changed = true
	}
	for _, name := range refused {
		m.changed = v.drop(name) || m.changed
	}
	if of := v.get("type"); of == nil || of.kind != '"' || unquoteString(of.raw) != "object" {
		v.set("type", newText("object"))
		m.changed = true
	}
	if v.get("properties") == nil {
		v.set("properties", newObject())
		m.changed = true
	}
	return v
}

var anthropicKey = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// dropRefusedKeys removes the properties whose names Anthropic refuses, and names them in a sentence: a model
// may still send them.
func (m *schemaRepairer) dropRefusedKeys(v *value) (unsaid string) {
	required := v.get("required")
	refused := map[string]bool{} // only with required
	var list []byte
	properties := v.get("properties")
	count := len(properties.members)
	properties.members = slices.DeleteFunc(properties.members, func(p objectMember) bool {
		if anthropicKey.MatchString(p.name) {
			return false
		}
		if len(list) <= maxOtherDescription { // more would be truncated
			list = append(appendQuoted(list, truncateText(p.name, 100)), ", "...)
		}
		if required != nil {
			refused[p.name] = true
		}
		return true
	})
	if len(properties.members) == count {
		return ""
	}
	m.changed = true
	v.drop("additionalProperties") // false would forbid what was removed
	if required != nil {
		required.items = slices.DeleteFunc(required.items, func(item *value) bool {
			return item.kind != '"' || refused[unquoteString(item.raw)]
		})
	}
	return "It also takes these arguments, which cannot be listed: " + strings.TrimSuffix(string(list), ", ") + "."
}

func containsString(list []string, s string) bool { return slices.Contains(list, s) }
