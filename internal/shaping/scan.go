package shaping

import (
	"bytes"
	"iter"
)

// member is an element of an array, or a member of an object. Its bytes are slices of the document.
type member struct {
	name  []byte // quoted; nil in arrays
	value []byte
}

// hasName reports whether a member has a quoted name, which may be written with escapes.
func (m member) hasName(name string) bool {
	if bytes.IndexByte(m.name, '\\') < 0 {
		return string(m.name) == name
	}
	return string(quoteJSON(fieldName(m.name))) == name
}

// eachMember goes through the elements or members of a valid JSON array or object.
func eachMember(raw []byte) iter.Seq[member] {
	return func(yield func(member) bool) { scanMembers(raw, yield) }
}

// listMembers returns the first elements or members of a valid JSON array or object, and the number of the others.
func listMembers(raw []byte, most int) (all []member, more int) {
	for m := range eachMember(raw) {
		if len(all) < most {
			all = append(all, m)
		} else {
			more++
		}
	}
	return all, more
}

func scanMembers(raw []byte, yield func(member) bool) {
	isObject := raw[0] == '{'
	for at := skipSpace(raw, 1); at < len(raw) && raw[at] != ']' && raw[at] != '}'; {
		var m member
		if isObject {
			end := skipValue(raw, at)
			m.name = raw[at:end]
			at = skipSpace(raw, skipSpace(raw, end)+1) // after the colon
		}
		end := skipValue(raw, at)
		m.value = raw[at:end]
		if !yield(m) {
			return
		}
		if at = skipSpace(raw, end); at < len(raw) && raw[at] == ',' {
			at = skipSpace(raw, at+1)
		}
	}
}

// findMember returns the value of the only member of a name; twice: there are several.
func findMember(object []byte, name string) (value []byte, twice bool) {
	for m := range eachMember(object) {
		if m.hasName(name) {
			twice = value != nil
			value = m.value
		}
	}
	return value, twice
}

// pickMember is findMember for an object that was read.
func pickMember(all []member, name string) (value []byte, twice bool) {
	for _, m := range all {
		if m.hasName(name) {
			twice = value != nil
			value = m.value
		}
	}
	return value, twice
}

func skipSpace(raw []byte, at int) int {
	for at < len(raw) && (raw[at] == ' ' || raw[at] == '\n' || raw[at] == '\t' || raw[at] == '\r') {
		at++
	}
	return at
}

// skipValue returns the end of the value that begins at a place of a valid document.
func skipValue(raw []byte, at int) int {
	depth := 0
	for at < len(raw) {
		switch raw[at] {
		case '"':
			at = skipString(raw, at)
			if depth == 0 {
				return at
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return at + 1 + min(depth, 0) // below 0: the bracket ends the parent, after a number or a word
			}
		case ',', ' ', '\n', '\t', '\r', ':':
			if depth == 0 {
				return at
			}
		}
		at++
	}
	return at
}

// skipString returns the end of the string with its opening quote at a place.
func skipString(raw []byte, at int) int {
	for at++; at < len(raw); {
		n := bytes.IndexByte(raw[at:], '"')
		if n < 0 {
			return len(raw)
		}
		slashes := 0
		for i := at + n - 1; i >= at && raw[i] == '\\'; i-- {
			slashes++
		}
		if at += n + 1; slashes%2 == 0 {
			return at
		}
	}
	return at
}

// fieldNames adds the quoted names of all members in a valid document.
func fieldNames(to map[string]bool, raw []byte) {
	for at := 0; at < len(raw); at++ {
		if raw[at] != '"' {
			continue
		}
		end := skipString(raw, at)
		if next := skipSpace(raw, end); next < len(raw) && raw[next] == ':' && !to[string(raw[at:end])] {
			to[string(raw[at:end])] = true
		}
		at = end - 1
	}
}
