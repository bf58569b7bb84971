package clientconfig

import (
	"bytes"
	"encoding/json"
	"slices"
)

type node struct {
	raw    []byte
	offset int
}

// namedNode is a value with its name, which is empty in an array.
type namedNode struct {
	name   string
	offset int // offset of the name's end; in an array, of the value
	node
}

func (n node) isKind(open byte) bool { return len(n.raw) > 0 && n.raw[0] == open }

func (n node) isNull() bool { return bytes.Equal(n.raw, []byte("null")) }

// isUnset reports whether the value means the same as an absent one.
func (n node) isUnset() bool {
	return slices.Contains([]string{"null", "false", `""`, "[]", "{}"}, string(n.raw))
}

// members returns the elements of an object or array in order, repeated names included.
func (n node) members() []namedNode {
	if !n.isKind('{') && !n.isKind('[') {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(n.raw))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	var all []namedNode
	for dec.More() {
		var m namedNode
		if n.isKind('{') {
			key, err := dec.Token()
			if err != nil {
				return all
			}
			m.name, _ = key.(string)
			m.offset = n.offset + int(dec.InputOffset()) - 1
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return all
		}
		m.node = node{raw: raw, offset: n.offset + int(dec.InputOffset()) - len(raw)}
		if n.isKind('[') {
			m.offset = m.node.offset
		}
		all = append(all, m)
	}
	return all
}

// fields returns the members of an object by name; the last of a repeated name counts.
func (n node) fields() map[string]node {
	fields := map[string]node{}
	for _, m := range n.members() {
		fields[m.name] = m.node
	}
	return fields
}

func (n node) stringValue() (string, bool) {
	if !n.isKind('"') {
		return "", false
	}
	var s string
	err := json.Unmarshal(n.raw, &s)
	return s, err == nil
}

// scalarText returns a string, number or boolean as text: quotes are often omitted.
func (n node) scalarText() (string, bool) {
	if s, ok := n.stringValue(); ok {
		return s, true
	}
	if n.isKind('{') || n.isKind('[') || n.isNull() {
		return "", false
	}
	return string(n.raw), true
}

func (n node) numberValue() (float64, bool) {
	var f float64
	err := json.Unmarshal(n.raw, &f)
	return f, err == nil && !n.isNull()
}

func (n node) boolValue() (value, ok bool) {
	err := json.Unmarshal(n.raw, &value)
	return value, err == nil && !n.isNull()
}

// stringList returns the strings of an array, or of a single string.
func (n node) stringList() ([]string, bool) {
	if s, ok := n.stringValue(); ok {
		return []string{s}, true
	}
	if !n.isKind('[') {
		return nil, false
	}
	all := []string{}
	for _, m := range n.members() {
		s, ok := m.scalarText()
		if !ok {
			return nil, false
		}
		all = append(all, s)
	}
	return all, true
}
