package toolchange

import (
	"bytes"
	"encoding/json"
)

// definitionMembers are the raw members of a definition. Only changed members are decoded.
type definitionMembers struct {
	values        map[string]json.RawMessage // of duplicates the last
	hasDuplicates bool
}

// Members returns the raw members of a JSON object; nil if raw is none. The last of duplicates counts.
func Members(raw []byte) map[string]json.RawMessage {
	p, ok := splitMembers(raw)
	if !ok {
		return nil
	}
	return p.values
}

func splitMembers(raw []byte) (p definitionMembers, ok bool) {
	if !json.Valid(raw) {
		return p, false
	}
	raw = bytes.TrimLeft(raw, whitespace)
	if len(raw) == 0 || raw[0] != '{' {
		return p, false
	}
	p.values = make(map[string]json.RawMessage, 8)
	for rest := bytes.TrimLeft(raw[1:], whitespace); rest[0] != '}'; {
		end := stringEnd(rest)
		var name string
		if json.Unmarshal(rest[:end], &name) != nil {
			return p, false
		}
		rest = bytes.TrimLeft(rest[end:], whitespace)
		rest = bytes.TrimLeft(rest[1:], whitespace) // the colon
		end = valueEnd(rest)
		_, exists := p.values[name]
		p.hasDuplicates = p.hasDuplicates || exists
		p.values[name] = rest[:end:end]
		rest = bytes.TrimLeft(rest[end:], whitespace)
		if rest[0] == ',' {
			rest = bytes.TrimLeft(rest[1:], whitespace)
		}
	}
	return p, true
}

const whitespace = " \t\r\n"

// stringEnd returns the end of the string at the start of valid JSON.
func stringEnd(s []byte) int {
	for i := 1; ; i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// valueEnd returns the end of the value at the start of valid JSON. More must follow it.
func valueEnd(s []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch s[i] {
		case '"':
			i += stringEnd(s[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
}

// decodeDifferences decodes the members with different bytes. A member that is too deep to be decoded stays
// text. twice means that only now has duplicate names.
func decodeDifferences(before, now definitionMembers) (a, b map[string]any, twice bool) {
	a, b = map[string]any{}, map[string]any{}
	for name, value := range now.values {
		old, hadBefore := before.values[name]
		if hadBefore && bytes.Equal(old, value) {
			continue
		}
		b[name] = decodeValue(value)
		if hadBefore {
			a[name] = decodeValue(old)
		}
		twice = twice || hasDuplicateNames(value) && !hasDuplicateNames(old)
	}
	for name, old := range before.values {
		if _, hasNow := now.values[name]; !hasNow {
			a[name] = decodeValue(old)
		}
	}
	return a, b, twice || now.hasDuplicates && !before.hasDuplicates
}

// decodeValue decodes a value; numbers keep their spelling.
func decodeValue(raw []byte) any {
	if raw[0] == '"' {
		var text string
		_ = json.Unmarshal(raw, &text) // s is valid JSON
		return text
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return string(raw)
	}
	return v
}
