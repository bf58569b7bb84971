package toolfmt

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// value is a JSON value that keeps its members' order and the spelling of what nobody changed: an integer past 2^53 comes
// out as it went in.
type value struct {
	kind    byte     // '{', '[', '"', '0' (a number), 't', 'f', 'n'
	raw     []byte   // as it was spelled, of a scalar
	members []member // of an object; of two with one name the last counts, in the place of the first
	items   []*value // of an array
}

type member struct {
	name  string
	value *value
}

// parse reads a document; nil where it is no JSON.
func parse(raw []byte) *value {
	if !json.Valid(raw) {
		return nil
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	r := reader{data: raw}
	return r.value()
}

// reader reads text that is known to be JSON.
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

func (r *reader) value() *value {
	switch c := r.next(); c {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case '"':
		return &value{kind: '"', raw: r.str()}
	case 't', 'n':
		return r.word(c, 4)
	case 'f':
		return r.word(c, 5)
	}
	start := r.pos
	for r.pos < len(r.data) && bytes.IndexByte([]byte("+-.0123456789eE"), r.data[r.pos]) >= 0 {
		r.pos++
	}
	return &value{kind: '0', raw: r.data[start:r.pos]}
}

func (r *reader) word(kind byte, length int) *value {
	r.pos += length
	return &value{kind: kind, raw: r.data[r.pos-length : r.pos]}
}

func (r *reader) object() *value {
	v, places := &value{kind: '{'}, map[string]int(nil)
	r.pos++
	for r.next() != '}' {
		name := unquote(r.str())
		r.next()
		r.pos++ // the colon
		m := member{name, r.value()}
		if len(v.members) == fewMembers {
			places = v.places()
		}
		if at := v.place(name, places); at >= 0 {
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

// fewMembers is up to where looking through all of them is cheaper than a map.
const fewMembers = 16

func (v *value) places() map[string]int {
	places := make(map[string]int, 2*len(v.members))
	for i, m := range v.members {
		places[m.name] = i
	}
	return places
}

// place is where a member stands, -1 where there is none.
func (v *value) place(name string, places map[string]int) int {
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

func (r *reader) array() *value {
	v := &value{kind: '['}
	r.pos++
	for r.next() != ']' {
		v.items = append(v.items, r.value())
		if r.next() == ',' {
			r.pos++
		}
	}
	r.pos++
	return v
}

// skip moves behind a value.
func (r *reader) skip() {
	switch c := r.next(); c {
	case '"':
		r.str()
	case '{', '[':
		for depth := 0; ; {
			switch r.data[r.pos] {
			case '"':
				r.str()
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
		r.value()
	}
}

// str reads a string and returns it with its quotes.
func (r *reader) str() []byte {
	start := r.pos
	for r.pos++; r.data[r.pos] != '"'; r.pos++ {
		if r.data[r.pos] == '\\' {
			r.pos++
		}
	}
	r.pos++
	return r.data[start:r.pos]
}

func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // it is known to be a string
	return s
}

// get is a member of an object; nil where there is none, or v is no object.
func (v *value) get(name string) *value {
	if v == nil || v.kind != '{' {
		return nil
	}
	if at := v.place(name, nil); at >= 0 {
		return v.members[at].value
	}
	return nil
}

// object is a member that is an object, else nil; list and text are its like.
func (v *value) object(name string) *value { return v.kinded(name, '{') }

func (v *value) list(name string) []*value {
	if list := v.kinded(name, '['); list != nil {
		return list.items
	}
	return nil
}

func (v *value) text(name string) string {
	if s := v.kinded(name, '"'); s != nil {
		return unquote(s.raw)
	}
	return ""
}

func (v *value) kinded(name string, kind byte) *value {
	if m := v.get(name); m != nil && m.kind == kind {
		return m
	}
	return nil
}

// set puts a member in its place, a new one at the end.
func (v *value) set(name string, to *value) {
	if at := v.place(name, nil); at >= 0 {
		v.members[at].value = to
		return
	}
	v.members = append(v.members, member{name, to})
}

// drop takes a member out, and tells whether it was there.
func (v *value) drop(name string) bool {
	at := v.place(name, nil)
	if at >= 0 {
		v.members = append(v.members[:at:at], v.members[at+1:]...)
	}
	return at >= 0
}

// write appends the value, without white space.
func (v *value) write(to []byte) []byte {
	switch v.kind {
	case '{':
		to = append(to, '{')
		for i, m := range v.members {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(quote(to, m.name), ':')
			to = m.value.write(to)
		}
		return append(to, '}')
	case '[':
		to = append(to, '[')
		for i, item := range v.items {
			if i > 0 {
				to = append(to, ',')
			}
			to = item.write(to)
		}
		return append(to, ']')
	}
	return append(to, v.raw...)
}

// quote appends a string as JSON. HTML's characters stay as they are: nobody pastes this into a page.
func quote(to []byte, s string) []byte {
	if plain(s) {
		to = append(to, '"')
		to = append(to, s...)
		return append(to, '"')
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return append(to, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func newObject(members ...member) *value { return &value{kind: '{', members: members} }

func newList(items ...*value) *value { return &value{kind: '[', items: items} }

func newText(s string) *value { return &value{kind: '"', raw: quote(nil, s)} }

func newTexts(texts []string) *value {
	list := newList()
	for _, s := range texts {
		list.items = append(list.items, newText(s))
	}
	return list
}

func newTrue() *value { return &value{kind: 't', raw: []byte("true")} }
