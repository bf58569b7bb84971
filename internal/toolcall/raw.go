package toolcall

import (
	"bytes"
	"encoding/json"
)

// member finds the value of an object's member, and where it stands; nil: there is none. Of two the last counts.
func member(raw []byte, name string) (value json.RawMessage, from int) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, 0
	}
	for dec.More() {
		key, err := dec.Token()
		var v json.RawMessage
		if err != nil || dec.Decode(&v) != nil {
			return nil, 0
		}
		if key == name {
			value, from = v, int(dec.InputOffset())-len(v)
		}
	}
	return value, from
}

// withMember is an object with another value of a member; everything else stays byte for byte.
func withMember(raw []byte, name string, value json.RawMessage) json.RawMessage {
	old, from := member(raw, name)
	if old != nil {
		return splice(raw, from, from+len(old), value)
	}
	open := bytes.IndexByte(raw, '{')
	if open < 0 {
		return raw
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return raw
	}
	entry := append(append(quoted, ':'), value...)
	if rest := bytes.TrimLeft(raw[open+1:], " \t\r\n"); len(rest) > 0 && rest[0] != '}' {
		entry = append(entry, ',')
	}
	return splice(raw, open+1, open+1, entry)
}

func splice(raw []byte, from, to int, with []byte) json.RawMessage {
	out := make([]byte, 0, len(raw)-(to-from)+len(with))
	return append(append(append(out, raw[:from]...), with...), raw[to:]...)
}

// canonical writes the same JSON the same way: members in order, no space, numbers as they stand. What different readers read differently
// stays as it is, and is the same as nothing else.
func canonical(raw []byte) []byte {
	if ambiguous(raw) {
		return raw
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return raw
	}
	b, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return b
}
