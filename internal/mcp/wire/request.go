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

// Request is a call that wants a reply. params is an object; nil: none. The message is on one line.
func Request(id int, method string, params []byte) []byte {
	b := append(begin(len(params)), `,"id":`...)
	b = strconv.AppendInt(b, int64(id), 10)
	return finish(b, method, params)
}

// RequestWith is a request with these members as params, and these in its _meta; none: no _meta. It is written in one piece.
func RequestWith(id int, method string, params, meta []Member) []byte {
	b := append(begin(sizeOf(params)+sizeOf(meta)+len(method)), `,"id":`...)
	b = strconv.AppendInt(b, int64(id), 10)
	b = appendText(append(b, `,"method":`...), method)
	b = appendMembers(append(b, `,"params":{`...), params)
	if len(meta) > 0 {
		if len(params) > 0 {
			b = append(b, ',')
		}
		b = append(appendMembers(append(b, `"_meta":{`...), meta), '}')
	}
	return onOneLine(append(b, "}}"...))
}

func sizeOf(members []Member) (size int) {
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

// Notification is a message that wants none.
func Notification(method string, params []byte) []byte {
	return finish(begin(len(params)), method, params)
}

// Result is the reply to a request of the server, whose id is raw.
func Result(id, result []byte) []byte {
	b := append(append(begin(len(result)), `,"id":`...), id...)
	return onOneLine(append(append(append(b, `,"result":`...), result...), '}'))
}

// Failure is the reply that refuses a request of the server.
func Failure(id []byte, code int, message string) []byte {
	b := append(append(begin(len(message)), `,"id":`...), id...)
	b = strconv.AppendInt(append(b, `,"error":{"code":`...), int64(code), 10)
	return append(append(append(b, `,"message":`...), Text(message)...), "}}"...)
}

// Text is t as a JSON string.
func Text(t string) []byte { return appendText(make([]byte, 0, len(t)+2), t) }

// PlainText is a string that is written in ASCII and without escapes; ok is false for everything else.
func PlainText(raw []byte) (t string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	inner := raw[1 : len(raw)-1]
	if plainBytes(inner) < len(inner) {
		return "", false
	}
	return word(inner), true
}

// bare are the bytes that stand for themselves in a string of ours.
var bare = func() [256]bool {
	table := plain
	table['<'], table['>'], table['&'] = false, false, false
	return table
}()

// appendText appends t as a JSON string.
func appendText(b []byte, t string) []byte {
	for i := range len(t) {
		if !bare[t[i]] {
			raw, _ := json.Marshal(t) // strings always marshal
			return append(b, raw...)
		}
	}
	return append(append(append(b, '"'), t...), '"')
}

// Number is n as JSON text.
func Number(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }

// Object is an object of these members, in this order.
func Object(members []Member) []byte {
	b := append(make([]byte, 0, sizeOf(members)+2), '{')
	return append(appendMembers(b, members), '}')
}

// Members reads an object's members, in their order; the values are slices of raw. ok is false where raw is no object. null and
// nothing at all are an empty one.
func Members(raw []byte) (members []Member, ok bool) {
	s := scanner{data: raw}
	if s.peek() != '{' {
		return nil, isNothing(raw)
	}
	members, err := s.members()
	return members, err == nil && s.peek() == 0 && s.pos == len(raw)
}

// IsObject tells whether Members can read raw.
func IsObject(raw []byte) bool {
	s := scanner{data: raw}
	if s.peek() != '{' {
		return isNothing(raw)
	}
	return s.passObject() == nil && s.peek() == 0 && s.pos == len(raw)
}

func isNothing(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// members reads an object.
func (s *scanner) members() ([]Member, error) {
	members := make([]Member, 0, 4) // a result or the parameters of a call have seldom more
	err := s.object(func(key []byte) error {
		s.peek()
		start := s.pos
		err := s.value()
		members = append(members, Member{Name: word(key), Value: s.data[start:s.pos:s.pos]})
		return err
	})
	return members, err
}

func begin(payload int) []byte {
	return append(make([]byte, 0, payload+96), `{"jsonrpc":"2.0"`...)
}

func finish(b []byte, method string, params []byte) []byte {
	b = appendText(append(b, `,"method":`...), method)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	return onOneLine(append(b, '}'))
}

// onOneLine makes blanks of line ends, which stand between JSON's tokens only.
func onOneLine(b []byte) []byte {
	if bytes.IndexByte(b, '\n') >= 0 || bytes.IndexByte(b, '\r') >= 0 {
		for i, c := range b {
			if c == '\r' || c == '\n' {
				b[i] = ' '
			}
		}
	}
	return b
}
