package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

// ErrNoReply says that a text is JSON and holds no reply to the request.
var ErrNoReply = errors.New("no reply to this request")

// ErrNoMessage says that a text is JSON and no message.
var ErrNoMessage = errors.New("not a message")

// Error is a JSON-RPC error. Message and Data are remote text: look at them, and show them to nobody.
type Error struct {
	Code    int // 0: none that can be read
	Message string
	Data    json.RawMessage
}

// Reply is the answer to one request. Exactly one of Result, Page and Error is set.
type Reply struct {
	Result []byte // raw
	Page   *Page  // of tools/list
	Error  *Error

	Fields []Member // of a Result that is an object, where the Finder was asked for them; nil: ask Members
}

// Message is one JSON-RPC message. All of it are slices of the text that it was found in.
type Message struct {
	Raw    []byte
	ID     []byte // empty: it has none
	Method []byte // unquoted; nil: a reply
	Params []byte // of a request or notification; empty: none
}

// IsRequest tells whether the sender waits for a reply.
func (m Message) IsRequest() bool { return m.Method != nil && !isNull(m.ID) }

// Number is the id as a number: some servers answer a number with its text. ok is false where it is none.
func (m Message) Number() (id int, ok bool) { return number(m.ID) }

// Find reads the reply to request id out of a text: a message, a batch of them, or several one after the other. Other
// messages are passed over. It returns ErrNoReply where the text holds none, and ErrSyntax, ErrDepth or ErrUTF8 where
// it is no JSON.
func Find(text []byte, id int) (*Reply, error) { return Finder{ID: id}.Find(text) }

// FindPage is Find for a request of tools/list: where the reply has a result, it is read as a Page.
func FindPage(text []byte, id int) (*Reply, error) { return Finder{ID: id, Paged: true}.Find(text) }

// Finder looks for one reply, in as many texts as it takes.
type Finder struct {
	ID    int
	Paged bool // the reply is one to tools/list
	// Fields has the result's members told with it, at no further reading.
	Fields bool
	// Other, where set, gets the requests and notifications that stand before the reply.
	Other func(Message)
}

// Find is the function of that name.
func (f Finder) Find(text []byte) (*Reply, error) {
	var found *Reply
	err := walk(text, f.Paged, f.Fields, func(m envelope) bool {
		if m.Method != nil {
			if f.Other != nil {
				f.Other(m.Message)
			}
			return true
		}
		found = m.reply(f.ID, f.Paged)
		return found == nil
	})
	switch {
	case found != nil:
		// What follows the reply is nobody's: a stray line must not cost the list.
		return found, nil
	case err != nil:
		return nil, err
	}
	return nil, ErrNoReply
}

// Each calls do for every message of a text, which may be a message, a batch of them, or several one after the other. Where
// the text breaks off or is no JSON, the messages before that were done.
func Each(text []byte, do func(Message)) error {
	return walk(text, false, false, func(m envelope) bool {
		do(m.Message)
		return true
	})
}

// envelope is a message with what only a reply has.
type envelope struct {
	Message
	result, fail []byte
	page         *Page
	fields       []Member
}

// walk reads the messages of a text, until more returns false.
func walk(text []byte, paged, fields bool, more func(envelope) bool) error {
	s := &scanner{data: text}
	going := true
	message := func() error {
		m, ok, err := s.message(paged, fields)
		if err == nil && ok && going {
			going = more(m)
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
		if err != nil || !going {
			return err
		}
	}
	return nil
}

// message reads one message; ok is false where the value is no object.
func (s *scanner) message(paged, fields bool) (m envelope, ok bool, err error) {
	if s.peek() != '{' {
		return m, false, s.value()
	}
	from := s.pos
	err = s.object(func(key []byte) (err error) {
		s.peek()
		start := s.pos
		switch string(key) {
		case "id":
			err = s.value()
			m.ID = s.data[start:s.pos]
		case "method":
			err = s.value()
			if method := s.data[start:s.pos]; string(method) != "null" { // some write every member that there is
				m.Method = bytes.Trim(method, `"`)
			}
		case "params":
			err = s.value()
			m.Params = s.data[start:s.pos]
		case "error":
			err = s.value()
			m.fail = s.data[start:s.pos]
		case "result":
			switch {
			case paged:
				m.page, err = s.page()
			case fields && s.at('{'):
				m.fields, err = s.members()
			default:
				err = s.value()
			}
			m.result = s.data[start:s.pos]
		default:
			err = s.value()
		}
		return err
	})
	m.Raw = s.data[from:s.pos]
	return m, true, err
}

// reply is what the message says to request id; nil where it is no reply to it.
func (m envelope) reply(id int, paged bool) *Reply {
	switch {
	case m.failed() && (isNull(m.ID) || sameID(m.ID, id)):
		// An error without an id answers a request that the server could not read: there is only one.
		return &Reply{Error: readError(m.fail)}
	case !sameID(m.ID, id) || m.result == nil:
		return nil
	case paged:
		return &Reply{Page: m.page}
	}
	return &Reply{Result: m.result, Fields: m.fields}
}

// failed tells whether the error is one. Beside a result, what is empty or false is none.
func (m envelope) failed() bool {
	if isNull(m.result) || isNull(m.fail) {
		return !isNull(m.fail)
	}
	switch string(bytes.Join(bytes.Fields(m.fail[:min(len(m.fail), 16)]), nil)) {
	case "false", "0", `""`, "{}", "[]":
		return false
	}
	return true
}

func isNull(id []byte) bool { return len(id) == 0 || string(id) == "null" }

// sameID compares by value.
func sameID(raw []byte, id int) bool {
	n, ok := number(raw)
	return ok && n == id
}

// number reads an id of ours: some servers answer a number with its text, and in some languages every number is a float.
func number(raw []byte) (n int, ok bool) {
	text := string(bytes.Trim(raw, `"`))
	if n, err := strconv.Atoi(text); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	return int(f), err == nil && f == float64(int32(f))
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
