package toolcall

import (
	"bytes"
	"encoding/json"
)

// findMember finds an object's member and its offset; nil: none. Of duplicates the last counts.
func findMember(raw []byte, name string) (value json.RawMessage, offset int) {
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
			value, offset = v, int(dec.InputOffset())-len(v)
		}
	}
	return value, offset
}

// withMember sets a member of an object; all other bytes stay.
func withMember(raw []byte, name string, value json.RawMessage) json.RawMessage {
	old, offset := findMember(raw, name)
	if old != nil {
		return spliceJSON(raw, offset, offset+len(old), value)
	}
	brace := bytes.IndexByte(raw, '{')
	if brace < 0 {
		return raw
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return raw
	}
	entry := append(append(quoted, ':'), value...)
	if rest := bytes.TrimLeft(raw[brace+1:], " \t\r\n"); len(rest) > 0 && rest[0] != '}' {
		entry = append(entry, ',')
	}
	return spliceJSON(raw, brace+1, brace+1, entry)
}

func spliceJSON(raw []byte, start, end int, replacement []byte) json.RawMessage {
	out := make([]byte, 0, len(raw)-(end-start)+len(replacement))
	return append(append(append(out, raw[:start]...), replacement...), raw[end:]...)
}

// canonicalJSON writes equal JSON equally: sorted members, no white space, numbers as written. Ambiguous JSON
// stays as it is, and so equals nothing else.
func canonicalJSON(raw []byte) []byte {
	if isAmbiguous(raw) {
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
