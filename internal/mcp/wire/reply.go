package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

// ErrNoReply says that a text is JSON and holds no reply to the request.
var ErrNoReply = errors.New("no reply to this request")

// Error is a JSON-RPC error. Message and Data are remote text: look at them, and show them to nobody.
type Error struct {
	Code    int // 0: none that can be read
	Message string
	Data    json.RawMessage
}

// Reply is the answer to one request. Exactly one of its fields is set.
type Reply struct {
	Result []byte // raw
	Page   *Page  // of tools/list
	Error  *Error
}

// Find reads the reply to request id out of a text: a message, a batch of them, or several one after the other. Other
// messages are passed over. It returns ErrNoReply where the text holds none, and ErrSyntax, ErrDepth or ErrUTF8 where
// it is no JSON.
func Find(text []byte, id int) (*Reply, error) { return find(text, id, false) }

// FindPage is Find for a request of tools/list: where the reply has a result, it is read as a Page.
func FindPage(text []byte, id int) (*Reply, error) { return find(text, id, true) }

func find(text []byte, id int, paged bool) (*Reply, error) {
	s := &scanner{data: text}
	var found *Reply
	message := func() error {
		reply, err := s.message(id, paged)
		if reply != nil && found == nil {
			found = reply
		}
		return err
	}
	for s.peek() != 0 || s.pos < len(text) {
		var err error
		if s.peek() == '[' {
			err = s.array(message)
		} else {
			err = message()
		}
		if err != nil {
			return nil, err
		}
		// What follows the reply is nobody's: a stray line must not cost the list.
		if found != nil {
			return found, nil
		}
	}
	return nil, ErrNoReply
}

// message reads one message; the reply is nil where it is not the one to request id.
func (s *scanner) message(id int, paged bool) (*Reply, error) {
	if s.peek() != '{' {
		return nil, s.value()
	}
	var m struct {
		id, result, fail []byte
		page             *Page
		method           bool
	}
	err := s.object(func(key []byte) (err error) {
		s.peek()
		start := s.pos
		switch string(key) {
		case "id":
			err = s.value()
			m.id = s.data[start:s.pos]
		case "method":
			m.method = true
			err = s.value()
		case "error":
			err = s.value()
			m.fail = s.data[start:s.pos]
		case "result":
			if paged {
				m.page, err = s.page()
			} else {
				err = s.value()
			}
			m.result = s.data[start:s.pos]
		default:
			err = s.value()
		}
		return err
	})
	switch failed := len(m.fail) > 0 && string(m.fail) != "null"; {
	case err != nil || m.method:
		return nil, err
	case failed && (isNull(m.id) || sameID(m.id, id)):
		// An error without an id answers a request that the server could not read: there is only one.
		return &Reply{Error: readError(m.fail)}, nil
	case !sameID(m.id, id) || m.result == nil:
		return nil, nil
	case paged:
		return &Reply{Page: m.page}, nil
	}
	return &Reply{Result: m.result}, nil
}

func isNull(id []byte) bool { return len(id) == 0 || string(id) == "null" }

// sameID compares by value: some servers answer a number with its text.
func sameID(raw []byte, id int) bool {
	return string(bytes.Trim(raw, `"`)) == strconv.Itoa(id)
}

// readError reads what can be read: sloppy servers put texts where numbers belong, or a text in place of the error.
func readError(raw []byte) *Error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return &Error{}
	}
	rpc := &Error{Data: fields["data"]}
	_ = json.Unmarshal(fields["message"], &rpc.Message)
	code := string(bytes.Trim(fields["code"], `"`))
	if n, err := strconv.ParseFloat(code, 64); err == nil && n == float64(int32(n)) {
		rpc.Code = int(n)
	}
	return rpc
}
