package mcpjson

import (
	"bytes"
	"encoding/json"
)

// node is a value of a document, and where it begins.
type node struct {
	raw []byte
	at  int
}

// member is a value with its name; in an array the name is empty.
type member struct {
	name string
	at   int // where the name ends, in an array where the value begins
	node
}

func (n node) is(open byte) bool { return len(n.raw) > 0 && n.raw[0] == open }

func (n node) isNull() bool { return bytes.Equal(n.raw, []byte("null")) }

// members are what an object or an array holds, in order, a name that comes twice included. Any other value holds nothing.
func (n node) members() []member {
	if !n.is('{') && !n.is('[') {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(n.raw))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	var all []member
	for dec.More() {
		var m member
		if n.is('{') {
			key, err := dec.Token()
			if err != nil {
				return all
			}
			m.name, _ = key.(string)
			m.at = n.at + int(dec.InputOffset()) - 1
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return all
		}
		m.node = node{raw: raw, at: n.at + int(dec.InputOffset()) - len(raw)}
		if n.is('[') {
			m.at = m.node.at
		}
		all = append(all, m)
	}
	return all
}

// fields are the members of an object by their names; the last one of a name counts, as everywhere in JSON.
func (n node) fields() map[string]node {
	fields := map[string]node{}
	for _, m := range n.members() {
		fields[m.name] = m.node
	}
	return fields
}

// text is a string's value.
func (n node) text() (string, bool) {
	if !n.is('"') {
		return "", false
	}
	var s string
	err := json.Unmarshal(n.raw, &s)
	return s, err == nil
}

// scalar is the text of a string, a number, true or false: people leave quotes away.
func (n node) scalar() (string, bool) {
	if s, ok := n.text(); ok {
		return s, true
	}
	if n.is('{') || n.is('[') || n.isNull() {
		return "", false
	}
	return string(n.raw), true
}

func (n node) number() (float64, bool) {
	var f float64
	err := json.Unmarshal(n.raw, &f)
	return f, err == nil && !n.isNull()
}

func (n node) boolean() (value, ok bool) {
	err := json.Unmarshal(n.raw, &value)
	return value, err == nil && !n.isNull()
}

// texts are the strings of an array; a single string is one of them.
func (n node) texts() ([]string, bool) {
	if s, ok := n.text(); ok {
		return []string{s}, true
	}
	if !n.is('[') {
		return nil, false
	}
	all := []string{}
	for _, m := range n.members() {
		s, ok := m.scalar()
		if !ok {
			return nil, false
		}
		all = append(all, s)
	}
	return all, true
}
