package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Member is one member of a JSON object.
type Member struct {
	Name  string
	Value []byte // raw
}

// Request encodes a request on one line. params is an object; nil: none.
func Request(id int, method string, params []byte) []byte {
	b := append(beginMessage(len(params)), `,"id":`...)
	b = strconv.AppendInt(b, int64(id), 10)
	return finishMessage(b, method, params)
}

// RequestWith encodes a request with these members of params and _meta, in one allocation.
func RequestWith(id int, method string, params, meta []Member) []byte {
	b := append(beginMessage(membersSize(params)+membersSize(meta)+len(method)), `,"id":`...)
	b = strconv.AppendInt(b, int64(id), 10)
	b = appendText(append(b, `,"method":`...), method)
	b = appendMembers(append(b, `,"params":{`...), params)
	if len(meta) > 0 {
		if len(params) > 0 {
			b = append(b, ',')
		}
		b = append(appendMembers(append(b, `"_meta":{`...), meta), '}')
	}
	return replaceLineEnds(append(b, "}}"...))
}

func membersSize(members []Member) (size int) {
	for _, m := range members {
		size += len(m.Name) + len(m.Value) + 4
	}
	return size
}

func appendMembers(b []byte, members []Member) []byte {
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(appendText(b, m.Name), ':'), m.Value...)
	}
	return b
}

// Notification encodes a notification.
func Notification(method string, params []byte) []byte {
	return finishMessage(beginMessage(len(params)), method, params)
}

// Result encodes the reply to a request; id is raw.
func Result(id, result []byte) []byte {
	b := append(append(beginMessage(len(result)), `,"id":`...), id...)
	return replaceLineEnds(append(append(append(b, `,"result":`...), result...), '}'))
}

// Failure encodes an error reply to a request; id is raw.
func Failure(id []byte, code int, message string) []byte {
	b := append(append(beginMessage(len(message)), `,"id":`...), id...)
	b = strconv.AppendInt(append(b, `,"error":{"code":`...), int64(code), 10)
	return append(append(append(b, `,"message":`...), Text(message)...), "}}"...)
}

// Text encodes a string.
func Text(t string) []byte { return appendText(make([]byte, 0, len(t)+2), t) }

// PlainText decodes a string of ASCII without escapes; ok is false for other values.
func PlainText(raw []byte) (t string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	inner := raw[1 : len(raw)-1]
	if countPlainBytes(inner) < len(inner) {
		return "", false
	}
	return internString(inner), true
}

// needsNoEscape are the bytes that we write unescaped.
var needsNoEscape = func() [256]bool {
	table := isPlain
	table['<'], table['>'], table['&'] = false, false, false
	return table
}()

// appendText appends an encoded string.
func appendText(b []byte, t string) []byte {
	for i := range len(t) {
		if !needsNoEscape[t[i]] {
			raw, _ := json.Marshal(t) // strings always marshal
			return append(b, raw...)
		}
	}
	return append(append(append(b, '"'), t...), '"')
}

// Number encodes an integer.
func Number(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }

// Object encodes an object with its members in order.
func Object(members []Member) []byte {
	b := append(make([]byte, 0, membersSize(members)+2), '{')
	return append(appendMembers(b, members), '}')
}

// Members reads an object's members in order, with values as slices of raw. ok is false for other values. null
// and an empty text are an empty object.
func Members(raw []byte) (members []Member, ok bool) {
	s := scanner{data: raw}
	if s.peek() != '{' {
		return nil, isNullOrEmpty(raw)
	}
	members, err := s.readMembers()
	return members, err == nil && s.peek() == 0 && s.pos == len(raw)
}

// IsObject reports whether Members accepts raw.
func IsObject(raw []byte) bool {
	s := scanner{data: raw}
	if s.peek() != '{' {
		return isNullOrEmpty(raw)
	}
	return s.skipObject() == nil && s.peek() == 0 && s.pos == len(raw)
}

func isNullOrEmpty(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// readMembers reads an object.
func (s *scanner) readMembers() ([]Member, error) {
	members := make([]Member, 0, 4) // results and params seldom have more
	err := s.readObject(func(key []byte) error {
		s.peek()
		start := s.pos
		err := s.skipValue()
		members = append(members, Member{Name: internString(key), Value: s.data[start:s.pos:s.pos]})
		return err
	})
	return members, err
}

func beginMessage(payload int) []byte {
	return append(make([]byte, 0, payload+96), `{"jsonrpc":"2.0"`...)
}

func finishMessage(b []byte, method string, params []byte) []byte {
	b = appendText(append(b, `,"method":`...), method)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	return replaceLineEnds(append(b, '}'))
}

// replaceLineEnds replaces line ends by spaces. They occur between JSON tokens only.
func replaceLineEnds(b []byte) []byte {
	if bytes.IndexByte(b, '\n') >= 0 || bytes.IndexByte(b, '\r') >= 0 {
		for i, c := range b {
			if c == '\r' || c == '\n' {
				b[i] = ' '
			}
		}
	}
	return b
}
