package tools

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// Bounds of a schema on a page. What exceeds them is not shown.
const (
	maxPageSchema   = 1 << 20 // bytes
	maxSchemaValues = 20_000  // JSON values
)

// schemaValue is a JSON value of a schema.
type schemaValue struct {
	raw     json.RawMessage
	members []schemaMember // of an object in the document's order, with duplicates
	items   []*schemaValue // of an array
	places  map[string]int // of a wide object's members, made by its first lookup
	schema  *pageSchema    // made by the first read
}

type schemaMember struct {
	name  string
	value *schemaValue
}

// decodeSchema decodes a document once; nil if it is invalid, or too long. whole reports whether all of it was
// decoded.
func decodeSchema(raw json.RawMessage) (root *schemaValue, whole bool) {
	if len(raw) > maxPageSchema {
		return nil, false
	}
	if !json.Valid(raw) {
		return nil, true
	}
	d := schemaDecoder{text: raw, remaining: maxSchemaValues}
	root = d.readValue()
	return root, d.remaining > 0
}

// schemaDecoder reads a valid document. Members and items are left out once it has no values remaining.
type schemaDecoder struct {
	text      []byte
	pos       int
	remaining int
}

func (d *schemaDecoder) readValue() *schemaValue {
	d.remaining--
	v, first, start := &schemaValue{}, d.nextByte(), d.pos
	switch first {
	case '{':
		d.readMembers(v)
	case '[':
		d.readItems(v)
	default:
		d.skipValue()
	}
	v.raw = json.RawMessage(d.text[start:d.pos:d.pos])
	return v
}

func (d *schemaDecoder) readMembers(v *schemaValue) {
	for d.pos++; d.nextByte() != '}'; {
		name := d.readString()
		d.nextByte()
		d.pos++ // :
		if d.remaining > 0 {
			v.members = append(v.members, schemaMember{decodeText(name), d.readValue()})
		} else {
			d.skipValue()
		}
		if d.nextByte() == ',' {
			d.pos++
		}
	}
	d.pos++
}

func (d *schemaDecoder) readItems(v *schemaValue) {
	for d.pos++; d.nextByte() != ']'; {
		if d.remaining > 0 {
			v.items = append(v.items, d.readValue())
		} else {
			d.skipValue()
		}
		if d.nextByte() == ',' {
			d.pos++
		}
	}
	d.pos++
}

// nextByte skips white space and returns the byte after it.
func (d *schemaDecoder) nextByte() byte {
	for ; d.pos < len(d.text); d.pos++ {
		switch c := d.text[d.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (d *schemaDecoder) readString() []byte {
	start := d.pos
	for d.pos++; d.text[d.pos] != '"'; d.pos++ {
		if d.text[d.pos] == '\\' {
			d.pos++
		}
	}
	d.pos++
	return d.text[start:d.pos]
}

func (d *schemaDecoder) skipValue() {
	d.nextByte()
	for depth := 0; d.pos < len(d.text); d.pos++ {
		switch d.text[d.pos] {
		case '"':
			if d.readString(); depth == 0 {
				return
			}
			d.pos--
		case '{', '[':
			depth++
		case '}', ']', ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return // after a number or literal
			}
			if c := d.text[d.pos]; c == '}' || c == ']' {
				depth--
			}
			if depth == 0 {
				d.pos++
				return
			}
		}
	}
}

// decodeText decodes a valid JSON string.
func decodeText(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // raw is valid
	return s
}

// getMember returns the value of a member; nil if there is none. Of duplicates the last counts, as in most JSON
// parsers.
func (v *schemaValue) getMember(name string) *schemaValue {
	const maxScanned = 16
	if v.places == nil && len(v.members) > maxScanned {
		v.places = make(map[string]int, len(v.members))
		for i, m := range v.members {
			v.places[m.name] = i
		}
	}
	if v.places != nil {
		if at, found := v.places[name]; found {
			return v.members[at].value
		}
		return nil
	}
	for _, m := range slices.Backward(v.members) {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// isObject reports whether the value is an object.
func (v *schemaValue) isObject() bool { return v.raw[0] == '{' }
