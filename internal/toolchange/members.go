package toolchange

import (
	"bytes"
	"encoding/json"
	"slices"
)

// definitionMembers are the raw members of a definition. Only changed members are decoded.
type definitionMembers struct {
	values        map[string]json.RawMessage // of duplicates the last
	hasDuplicates bool
}

// Members returns the raw members of a JSON object; nil if raw is none. The last of duplicates counts.
func Members(raw []byte) map[string]json.RawMessage {
	p, ok := splitMembers(raw, nil)
	if !ok {
		return nil
	}
	return p.values
}

// splitMembers splits a definition; ok is false if it is no object. Members are missing if the work is exhausted.
func splitMembers(raw []byte, w *work) (p definitionMembers, ok bool) {
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
		if !w.spendUnits(memberWork + 2*end) {
			return p, true
		}
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

// decodedMembers are the members with different bytes.
type decodedMembers struct {
	before, now   map[string]any
	tooLarge      []string // changed, but too large to be decoded
	hasDuplicates bool     // only now has duplicate names
}

// decodeDifferences decodes the members with different bytes, in order of their names.
func decodeDifferences(before, now definitionMembers, w *work) decodedMembers {
	d := decodedMembers{before: map[string]any{}, now: map[string]any{}}
	d.hasDuplicates = now.hasDuplicates && !before.hasDuplicates
	for _, name := range changedNames(before, now) {
		old, next := newRawValue(before.values[name]), newRawValue(now.values[name])
		cost := old.decodingWork() + next.decodingWork()
		if !w.canSpend(cost) {
			d.tooLarge = append(d.tooLarge, name)
			continue
		}
		w.spendUnits(cost)
		var duplicatesBefore, duplicatesNow bool
		if old.text != nil {
			d.before[name], duplicatesBefore = old.decodeText()
		}
		if next.text != nil {
			d.now[name], duplicatesNow = next.decodeText()
		}
		d.hasDuplicates = d.hasDuplicates || duplicatesNow && !duplicatesBefore
	}
	return d
}

// changedNames returns the sorted names of members with different bytes.
func changedNames(before, now definitionMembers) []string {
	var names []string
	for name, value := range now.values {
		if old, hadBefore := before.values[name]; !hadBefore || !bytes.Equal(old, value) {
			names = append(names, name)
		}
	}
	for name := range before.values {
		if _, hasNow := now.values[name]; !hasNow {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// rawValue is valid JSON with the numbers of its parts.
type rawValue struct {
	text        []byte // nil: no value
	tokens      int    // values and member names, or a few more
	memberCount int    // with duplicates
}

func newRawValue(text []byte) rawValue {
	r := rawValue{text: text, tokens: 1}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += stringEnd(text[i:]) - 1
		case ':':
			r.memberCount++
			r.tokens++
		case ',', '[', '{':
			r.tokens++
		}
	}
	return r
}

// decodingWork returns the work of decodeText.
func (r rawValue) decodingWork() int {
	cost := tokenWork*r.tokens + decodedByteWork*len(r.text)
	if r.tokens > 1 {
		cost += decoderWork
	}
	return cost
}

// decodeText decodes the value and reports whether an object in it has a member twice.
func (r rawValue) decodeText() (v any, hasDuplicates bool) {
	v = decodeValue(r.text)
	return v, countMembers(v) < r.memberCount
}

// countMembers counts the members of all objects in a value.
func countMembers(v any) int {
	count := 0
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			count += countMembers(item)
		}
	case map[string]any:
		count = len(v)
		for _, item := range v {
			count += countMembers(item)
		}
	}
	return count
}

// decodeValue decodes valid JSON; numbers keep their spelling.
func decodeValue(raw []byte) (v any) {
	switch raw[0] {
	case '"':
		var text string
		_ = json.Unmarshal(raw, &text) // raw is valid JSON
		return text
	case '{', '[':
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if dec.Decode(&v) != nil {
			return string(raw)
		}
		return v
	case 't', 'f':
		return raw[0] == 't'
	case 'n':
		return nil
	}
	return json.Number(raw)
}
