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

// parameters is a tool's input schema for a provider that reads JSON Schema: the server's own bytes, unless the provider
// would refuse them. unsaid is a sentence on what had to be left out; it may be empty.
//
//   - OpenAI: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level", "object
//     schema missing properties", "array schema missing items" (answers 400 invalid_function_parameters).
//   - Anthropic: "input_schema does not support oneOf, allOf, or anyOf at the top level", "JSON schema is invalid. It must
//     match JSON Schema draft 2020-12", "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'" (answers 400
//     invalid_request_error).
func parameters(raw json.RawMessage, f Format) (schema []byte, unsaid string) {
	v := parse(raw)
	if v == nil || v.kind != '{' || len(v.members) == 0 {
		return noParameters, ""
	}
	m := mender{format: f, changed: !utf8.Valid(raw)}
	m.schema(v)
	v = m.top(v)
	if f == Anthropic {
		unsaid = m.keys(v)
	}
	if !m.changed {
		return bytes.TrimSpace(raw), ""
	}
	return v.write(nil), unsaid
}

// mender makes a schema one that a provider takes.
type mender struct {
	format  Format
	changed bool
}

// schema mends what is wrong at any depth.
func (m *mender) schema(v *value) {
	if v.kind != '{' {
		return
	}
	m.modernize(v)
	kept := v.members[:0]
	for _, member := range v.members {
		k, known := keywords[member.name]
		if known && !k.takes(member.value) {
			m.changed = true
			continue
		}
		kept = append(kept, member)
		switch k.holds {
		case aSchema:
			m.schema(member.value)
		case aList:
			for _, item := range member.value.items {
				m.schema(item)
			}
		case aMapping:
			for _, entry := range member.value.members {
				m.schema(entry.value)
			}
		}
	}
	v.members = kept
	m.typed(v)
}

// modernize writes in today's words what older drafts said otherwise: items as a list (now prefixItems), an exclusive bound
// as a truth beside the bound.
func (m *mender) modernize(v *value) {
	if tuple := v.kinded("items", '['); tuple != nil {
		v.drop("items")
		if v.get("prefixItems") == nil && len(tuple.items) > 0 {
			v.set("prefixItems", tuple)
		}
		m.changed = true
	}
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		truth, limit := v.kinded(exclusive, 't'), v.kinded(bound, '0')
		if truth != nil && limit != nil {
			v.set(exclusive, limit)
			v.drop(bound)
			m.changed = true
		}
	}
}

// typed sees to the schema's type, and that an array says what its items are.
func (m *mender) typed(v *value) {
	named := types(v)
	if of := v.get("type"); of != nil && (len(named) == 0 || !sameTypes(of, named)) {
		v.drop("type")
		if len(named) == 1 {
			v.set("type", newText(named[0]))
		} else if len(named) > 1 {
			v.set("type", newTexts(named))
		}
		m.changed = true
	}
	if m.format == OpenAI && contains(named, "array") && v.get("items") == nil {
		v.set("items", newObject())
		m.changed = true
	}
	if enum := v.get("enum"); enum != nil && len(enum.items) == 0 {
		m.changed = v.drop("enum")
	}
}

func sameTypes(of *value, named []string) bool {
	if of.kind == '"' {
		return unquote(of.raw) == named[0]
	}
	return len(of.items) == len(named) && slices.EqualFunc(of.items, named, func(v *value, name string) bool {
		return v.kind == '"' && unquote(v.raw) == name
	})
}

// top makes the whole an object that lists its properties itself.
func (m *mender) top(v *value) *value {
	refused := []string{"oneOf", "anyOf", "allOf"}
	if m.format == OpenAI {
		refused = append(refused, "enum", "not")
	}
	if v.get("$ref") != nil || slices.ContainsFunc(refused[:3], func(name string) bool { return v.get(name) != nil }) {
		w := newWalk(v)
		v = w.flat(v)
		m.changed = true
	}
	for _, name := range refused {
		m.changed = v.drop(name) || m.changed
	}
	if of := v.get("type"); of == nil || of.kind != '"' || unquote(of.raw) != "object" {
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

// keys leaves out the properties whose names Anthropic refuses, and names them in a sentence: a model may still send them.
func (m *mender) keys(v *value) (unsaid string) {
	var names []string
	left := map[string]bool{}
	properties := v.get("properties")
	kept := slices.DeleteFunc(slices.Clone(properties.members), func(p member) bool {
		if anthropicKey.MatchString(p.name) {
			return false
		}
		names, left[p.name] = append(names, p.name), true
		return true
	})
	if names == nil {
		return ""
	}
	m.changed = true
	properties.members = kept
	v.drop("additionalProperties") // false would forbid what is left out
	if required := v.get("required"); required != nil {
		required.items = slices.DeleteFunc(required.items, func(item *value) bool {
			return item.kind != '"' || left[unquote(item.raw)]
		})
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = string(quote(nil, cut(name, 100)))
	}
	return "It also takes these arguments, which cannot be listed: " + strings.Join(quoted, ", ") + "."
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }
