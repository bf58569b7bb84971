package jsonschema

import (
	"encoding/json"
	"strings"
)

// Limits bound what [Decode] reads; 0: no bound.
type Limits struct {
	Bytes          int  // of the document
	Values         int  // members and items beyond them are left out
	Depth          int  // of members and items; deeper objects and arrays have their text alone
	KeepDuplicates bool // false: a repeated name has its last value, at its first position
}

// Decode decodes a document. The root is nil if it is invalid or too long. whole is false if the limits left a part
// out. Bytes that are not UTF-8 are U+FFFD.
func Decode(document []byte, limits Limits) (root *Node, whole bool) {
	if limits.Bytes > 0 && len(document) > limits.Bytes {
		return nil, false
	}
	if !json.Valid(document) {
		return nil, true
	}
	d := decoder{text: strings.ToValidUTF8(string(document), "\uFFFD"), limits: limits, whole: true}
	return d.readValue(1), d.whole
}

// decoder reads a valid document.
type decoder struct {
	text   string
	pos    int
	limits Limits
	values int // that were read
	whole  bool
}

// nextByte skips white space and returns the byte after it.
func (d *decoder) nextByte() byte {
	for ; d.pos < len(d.text); d.pos++ {
		switch c := d.text[d.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (d *decoder) readValue(depth int) *Node {
	d.values++
	n := &Node{Kind: Kind(d.nextByte())}
	start := d.pos
	switch {
	case n.Kind != Object && n.Kind != Array, d.limits.Depth > 0 && depth > d.limits.Depth:
		d.skipValue()
	case n.Kind == Object:
		d.readMembers(n, depth)
	default:
		d.readItems(n, depth)
	}
	n.Raw, n.Offset = d.text[start:d.pos], uint32(start)
	if c := n.Kind; c == '-' || c >= '0' && c <= '9' {
		n.Kind = Number
	}
	return n
}

func (d *decoder) readMembers(n *Node, depth int) {
	var index map[string]int
	for d.pos++; d.nextByte() != '}'; d.skipComma() {
		name := Unquote(d.readString())
		d.nextByte()
		d.pos++ // :
		if d.isFull() {
			d.skipValue()
			continue
		}
		m := Member{name, d.readValue(depth + 1)}
		if d.limits.KeepDuplicates {
			n.Members = append(n.Members, m)
			continue
		}
		if len(n.Members) == maxScanned && index == nil {
			index = n.MemberIndex()
		}
		if at := n.findMember(name, index); at >= 0 {
			n.Members[at] = m
			continue
		}
		if index != nil {
			index[name] = len(n.Members)
		}
		n.Members = append(n.Members, m)
	}
	d.pos++
}

func (d *decoder) readItems(n *Node, depth int) {
	for d.pos++; d.nextByte() != ']'; d.skipComma() {
		if d.isFull() {
			d.skipValue()
		} else {
			n.Items = append(n.Items, d.readValue(depth+1))
		}
	}
	d.pos++
}

// isFull reports whether the limits leave the next value out.
func (d *decoder) isFull() bool {
	full := d.limits.Values > 0 && d.values >= d.limits.Values
	d.whole = d.whole && !full
	return full
}

func (d *decoder) skipComma() {
	if d.nextByte() == ',' {
		d.pos++
	}
}

func (d *decoder) readString() string {
	start := d.pos
	plain := strings.IndexByte(d.text[start+1:], '"')
	if strings.IndexByte(d.text[start+1:][:plain], '\\') < 0 {
		d.pos += plain + len(`""`)
		return d.text[start:d.pos]
	}
	for d.pos++; d.text[d.pos] != '"'; d.pos++ {
		if d.text[d.pos] == '\\' {
			d.pos++
		}
	}
	d.pos++
	return d.text[start:d.pos]
}

func (d *decoder) skipValue() {
	switch d.nextByte() {
	case '"':
		d.readString()
	case '{', '[':
		for depth := 0; ; {
			switch d.text[d.pos] {
			case '"':
				d.readString()
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			if d.pos++; depth == 0 {
				return
			}
		}
	default:
		for d.pos < len(d.text) && isScalar[d.text[d.pos]] {
			d.pos++
		}
	}
}

// isScalar has the characters of numbers and literals.
var isScalar = func() (set [256]bool) {
	for _, c := range []byte("+-.0123456789Eaeflnrstu") {
		set[c] = true
	}
	return set
}()
