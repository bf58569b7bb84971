package toolchange

import (
	"bytes"
	"encoding/json"
)

// parts are the members of a definition, each as it was sent. Most of a changed definition is as it was: only what differs is taken apart.
type parts struct {
	value map[string]json.RawMessage // of two with one name the last counts
	twice bool                       // there are such
}

// Members are the members of an object, as they stand in raw; nil where it is none. Of two with one name the last counts.
func Members(raw []byte) map[string]json.RawMessage {
	p, ok := split(raw)
	if !ok {
		return nil
	}
	return p.value
}

// split finds the members of an object; ok is false where it is none.
func split(raw []byte) (p parts, ok bool) {
	if !json.Valid(raw) {
		return p, false
	}
	raw = bytes.TrimLeft(raw, blanks)
	if len(raw) == 0 || raw[0] != '{' {
		return p, false
	}
	p.value = make(map[string]json.RawMessage, 8)
	for rest := bytes.TrimLeft(raw[1:], blanks); rest[0] != '}'; {
		end := textEnd(rest)
		var name string
		if json.Unmarshal(rest[:end], &name) != nil {
			return p, false
		}
		rest = bytes.TrimLeft(rest[end:], blanks)
		rest = bytes.TrimLeft(rest[1:], blanks) // the colon
		end = valueEnd(rest)
		_, there := p.value[name]
		p.twice = p.twice || there
		p.value[name] = rest[:end:end]
		rest = bytes.TrimLeft(rest[end:], blanks)
		if rest[0] == ',' {
			rest = bytes.TrimLeft(rest[1:], blanks)
		}
	}
	return p, true
}

const blanks = " \t\r\n"

// textEnd is where a string ends that begins the JSON, which is valid.
func textEnd(s []byte) int {
	for i := 1; ; i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// valueEnd is where a value ends that begins the JSON, which is valid and goes on behind it.
func valueEnd(s []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch s[i] {
		case '"':
			i += textEnd(s[i:]) - 1
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

// differing takes apart the members that are not the same bytes in both. A member that cannot be decoded, being nested too deep, is its
// text. twice: one of now names a member twice, and that of before does not.
func differing(before, now parts) (a, b map[string]any, twice bool) {
	a, b = map[string]any{}, map[string]any{}
	for name, value := range now.value {
		old, was := before.value[name]
		if was && bytes.Equal(old, value) {
			continue
		}
		b[name] = decode(value)
		if was {
			a[name] = decode(old)
		}
		twice = twice || ambiguous(value) && !ambiguous(old)
	}
	for name, old := range before.value {
		if _, is := now.value[name]; !is {
			a[name] = decode(old)
		}
	}
	return a, b, twice || now.twice && !before.twice
}

// decode reads a value. Numbers keep their spelling.
func decode(raw []byte) any {
	if raw[0] == '"' {
		var text string
		_ = json.Unmarshal(raw, &text) // it is valid
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
