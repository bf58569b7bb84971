package toolfmt

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// value is a JSON value that keeps the order of members and the spelling of scalars: an integer past 2^53 is
// unchanged.
type value struct {
	kind    byte           // '{', '[', '"', '0' (a number), 't', 'f', 'n'
	raw     []byte         // a scalar's spelling
	members []objectMember // of an object; a repeated name has its last value at its first position
	items   []*value       // of an array
}

type objectMember struct {
	name  string
	value *value
}

// parseSchema parses a document; nil: invalid JSON, or isTooLarge.
func parseSchema(raw []byte) (v *value, isTooLarge bool) {
	if len(raw) > maxSchemaBytes {
		return nil, true
	}
	if !json.Valid(raw) {
		return nil, false
	}
	if countValues(raw) > maxSchemaValues {
		return nil, true
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	r := reader{data: raw}
	return r.readValue(), false
}

// countValues estimates from above the values of a valid document.
func countValues(raw []byte) int {
	n := 1
	for pos := 0; pos < len(raw); pos++ {
		switch raw[pos] {
		case '"':
			for pos++; raw[pos] != '"'; pos++ {
				if raw[pos] == '\\' {
					pos++
				}
			}
		case ',':
			n++
		case '[', '{':
			if next := raw[pos+1]; next != ']' && next != '}' {
				n++
			}
		}
	}
	return n
}

type reader struct {
	data []byte
	pos  int
}

// next skips white space and returns the byte after it.
func (r *reader) next() byte {
	for ; r.pos < len(r.data); r.pos++ {
		switch c := r.data[r.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (r *reader) readValue() *value {
	switch c := r.next(); c {
	case '{':
		return r.readObject()
	case '[':
		return r.readArray()
	case '"':
		return &value{kind: '"', raw: r.readString()}
	case 't', 'n':
		return r.readLiteral(c, 4)
	case 'f':
		return r.readLiteral(c, 5)
	}
	start := r.pos
	for r.pos < len(r.data) && bytes.IndexByte([]byte("+-.0123456789eE"), r.data[r.pos]) >= 0 {
		r.pos++
	}
	return &value{kind: '0', raw: r.data[start:r.pos]}
}

func (r *reader) readLiteral(kind byte, length int) *value {
	r.pos += length
	return &value{kind: kind, raw: r.data[r.pos-length : r.pos]}
}

func (r *reader) readObject() *value {
	v, places := &value{kind: '{'}, map[string]int(nil)
	r.pos++
	for r.next() != '}' {
		name := unquoteString(r.readString())
		r.next()
		r.pos++ // :
		m := objectMember{name, r.readValue()}
		if len(v.members) == maxScanned {
			places = v.memberIndex()
		}
		if at := v.findMember(name, places); at >= 0 {
			v.members[at] = m
		} else {
			if places != nil {
				places[name] = len(v.members)
			}
			v.members = append(v.members, m)
		}
		if r.next() == ',' {
			r.pos++
		}
	}
	r.pos++
	return v
}

// maxScanned is the number of members up to which a linear scan is cheaper than a map.
const maxScanned = 16

func (v *value) memberIndex() map[string]int {
	places := make(map[string]int, 2*len(v.members))
	for i, m := range v.members {
		places[m.name] = i
	}
	return places
}

// findMember returns a member's index, or -1.
func (v *value) findMember(name string, places map[string]int) int {
	if places != nil {
		if at, there := places[name]; there {
			return at
		}
		return -1
	}
	for i, m := range v.members {
		if m.name == name {
			return i
		}
	}
	return -1
}

func (r *reader) readArray() *value {
	v := &value{kind: '['}
	r.pos++
	for r.next() != ']' {
		v.items = append(v.items, r.readValue())
		if r.next() == ',' {
			r.pos++
		}
	}
	r.pos++
	return v
}

func (r *reader) skipValue() {
	switch c := r.next(); c {
	case '"':
		r.readString()
	case '{', '[':
		for depth := 0; ; {
			switch r.data[r.pos] {
			case '"':
				r.readString()
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			r.pos++
			if depth == 0 {
				return
			}
		}
	default:
		r.readValue()
	}
}

func (r *reader) readString() []byte {
	start := r.pos
	for r.pos++; r.data[r.pos] != '"'; r.pos++ {
		if r.data[r.pos] == '\\' {
			r.pos++
		}
	}
	r.pos++
	return r.data[start:r.pos]
}

// get returns a member; nil if there is none or v is no object.
func (v *value) get(name string) *value {
	if v == nil || v.kind != '{' {
		return nil
	}
	if at := v.findMember(name, nil); at >= 0 {
		return v.members[at].value
	}
	return nil
}

// getObject returns a member that is an object, else nil.
func (v *value) getObject(name string) *value { return v.getKind(name, '{') }

func (v *value) getList(name string) []*value {
	if list := v.getKind(name, '['); list != nil {
		return list.items
	}
	return nil
}

func (v *value) getText(name string) string {
	if s := v.getKind(name, '"'); s != nil {
		return unquoteString(s.raw)
	}
	return ""
}

func (v *value) getKind(name string, kind byte) *value {
	if m := v.get(name); m != nil && m.kind == kind {
		return m
	}
	return nil
}

func (v *value) set(name string, member *value) {
	if at := v.findMember(name, nil); at >= 0 {
		v.members[at].value = member
		return
	}
	v.members = append(v.members, objectMember{name, member})
}

func (v *value) drop(name string) bool {
	at := v.findMember(name, nil)
	if at >= 0 {
		v.members = append(v.members[:at:at], v.members[at+1:]...)
	}
	return at >= 0
}

// estimateSize returns about the bytes that write appends. It stops counting above limit.
func (v *value) estimateSize(limit int) int {
	size := max(len(v.raw), len("[]"))
	for i := 0; i < len(v.members) && size <= limit; i++ {
		m := v.members[i]
		size += len(m.name) + len(`"":,`) + m.value.estimateSize(limit-size)
		for _, c := range []byte(m.name) {
			if c < ' ' {
				size += len(`\u0000`)
			}
		}
	}
	for i := 0; i < len(v.items) && size <= limit; i++ {
		size += v.items[i].estimateSize(limit-size) + len(",")
	}
	return size
}

// write appends the value without white space.
func (v *value) write(dst []byte) []byte {
	switch v.kind {
	case '{':
		dst = append(dst, '{')
		for i, m := range v.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendQuoted(dst, m.name), ':')
			dst = m.value.write(dst)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for i, item := range v.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.write(dst)
		}
		return append(dst, ']')
	}
	return append(dst, v.raw...)
}

func newObject(members ...objectMember) *value { return &value{kind: '{', members: members} }

func newList(items ...*value) *value { return &value{kind: '[', items: items} }

func newText(s string) *value { return &value{kind: '"', raw: appendQuoted(nil, s)} }

func newTexts(texts []string) *value {
	list := newList()
	for _, s := range texts {
		list.items = append(list.items, newText(s))
	}
	return list
}

func newTrue() *value { return &value{kind: 't', raw: []byte("true")} }
