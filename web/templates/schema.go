package templates

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A server may send any schema: these keep its table a table, and the reading of it short. Each level is decoded only
// when it is shown, so that the cost is the size times maxLevels and no more.
const (
	maxParams = 200
	maxLevels = 5
)

// Params reads a JSON Schema as the rows of a table, in the schema's own order, nested objects and lists below their
// parents. What it does not understand it leaves out: the whole schema stands beside the table. It follows no $ref.
func Params(schema []byte) []Param {
	var root schemaNode
	if json.Unmarshal(schema, &root) != nil {
		return nil
	}
	var rows []Param
	root.rows(&rows, "", 0)
	return rows
}

// IndentJSON makes JSON readable without changing a number, a string or the order of the keys.
func IndentJSON(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// schemaNode is the part of a schema that a table shows. The values that servers get wrong stay raw.
type schemaNode struct {
	Type        json.RawMessage `json:"type"`
	Description json.RawMessage `json:"description"`
	Properties  json.RawMessage `json:"properties"`
	Required    json.RawMessage `json:"required"`
	Items       json.RawMessage `json:"items"`
	Enum        json.RawMessage `json:"enum"`
	Const       json.RawMessage `json:"const"`
	Default     json.RawMessage `json:"default"`
	Format      json.RawMessage `json:"format"`
	Minimum     json.RawMessage `json:"minimum"`
	Maximum     json.RawMessage `json:"maximum"`
	AnyOf       json.RawMessage `json:"anyOf"`
	OneOf       json.RawMessage `json:"oneOf"`
}

func (n schemaNode) rows(out *[]Param, prefix string, depth int) {
	var required []string
	_ = json.Unmarshal(n.Required, &required) // no list: nothing is required
	for _, p := range n.properties() {
		if len(*out) >= maxParams || depth == maxLevels {
			return
		}
		name := prefix + p.name
		*out = append(*out, Param{
			Name:        name,
			Type:        p.node.typeName(0),
			Required:    slices.Contains(required, p.name),
			Description: text(p.node.Description),
			Notes:       p.node.notes(),
		})
		p.node.rows(out, name+".", depth+1)
		if items, ok := p.node.items(); ok {
			items.rows(out, name+"[].", depth+1)
		}
	}
}

func (n schemaNode) items() (schemaNode, bool) {
	var items schemaNode
	ok := len(n.Items) > 0 && json.Unmarshal(n.Items, &items) == nil
	return items, ok
}

// typeName is the type in words: "array of string", "string or null".
func (n schemaNode) typeName(depth int) string {
	if depth == maxLevels {
		return "any"
	}
	if one := text(n.Type); one != "" {
		if items, ok := n.items(); one == "array" && ok {
			if of := items.typeName(depth + 1); of != "any" {
				return "array of " + of
			}
		}
		return one
	}
	var several []string
	if json.Unmarshal(n.Type, &several) == nil && len(several) > 0 {
		return strings.Join(several, " or ")
	}
	for _, choice := range []json.RawMessage{n.AnyOf, n.OneOf} {
		if name := choiceName(choice, depth+1); name != "" {
			return name
		}
	}
	switch {
	case len(n.Properties) > 0:
		return "object"
	case len(n.Enum) > 0:
		return "enum"
	}
	return "any"
}

func choiceName(choice json.RawMessage, depth int) string {
	var nodes []schemaNode
	if json.Unmarshal(choice, &nodes) != nil {
		return ""
	}
	var names []string
	for _, n := range nodes {
		if name := n.typeName(depth); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

func (n schemaNode) notes() []string {
	var notes []string
	var enum []json.RawMessage
	if json.Unmarshal(n.Enum, &enum) == nil && len(enum) > 0 {
		notes = append(notes, "one of "+joined(enum))
	}
	if len(n.Const) > 0 {
		notes = append(notes, "always "+plain(n.Const))
	}
	if len(n.Default) > 0 {
		notes = append(notes, "default "+plain(n.Default))
	}
	switch {
	case len(n.Minimum) > 0 && len(n.Maximum) > 0:
		notes = append(notes, fmt.Sprintf("%s to %s", plain(n.Minimum), plain(n.Maximum)))
	case len(n.Minimum) > 0:
		notes = append(notes, plain(n.Minimum)+" or more")
	case len(n.Maximum) > 0:
		notes = append(notes, plain(n.Maximum)+" or less")
	}
	if f := text(n.Format); f != "" {
		notes = append(notes, "format "+f)
	}
	return notes
}

func joined(values []json.RawMessage) string {
	const most = 12
	var words []string
	for i, v := range values {
		if i == most {
			words = append(words, fmt.Sprintf("%d more", len(values)-most))
			break
		}
		words = append(words, plain(v))
	}
	return strings.Join(words, ", ")
}

// text is a JSON string's content; empty for any other value.
func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // another type: no text
	return s
}

// plain is a JSON value as one reads it: a string without its quotes, anything else as it was written.
func plain(raw json.RawMessage) string {
	if s := text(raw); s != "" {
		return s
	}
	const most = 80
	if r := []rune(string(raw)); len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(raw)
}

type namedNode struct {
	name string
	node schemaNode
}

// properties are in the order in which the server wrote them. What is no object has none, and a member that is no
// schema shows its name alone.
func (n schemaNode) properties() []namedNode {
	dec := json.NewDecoder(bytes.NewReader(n.Properties))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var nodes []namedNode
	for dec.More() && len(nodes) < maxParams {
		key, err := dec.Token()
		if err != nil {
			return nodes
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nodes
		}
		var node schemaNode
		_ = json.Unmarshal(value, &node) // no schema: the zero node
		nodes = append(nodes, namedNode{name: key.(string), node: node})
	}
	return nodes
}
