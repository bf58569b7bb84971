package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

// ErrNoReply says that a JSON text holds no reply to the request.
var ErrNoReply = errors.New("no reply to this request")

// ErrNoMessage says that a JSON text is no message.
var ErrNoMessage = errors.New("not a message")

// Error is a JSON-RPC error. Message and Data are remote text that must not be shown.
type Error struct {
	Code    int // 0: unreadable
	Message string
	Data    json.RawMessage
}

// Reply is the reply to one request. Exactly one of Result, Page and Error is set.
type Reply struct {
	Result []byte // raw
	Page   *Page  // of tools/list
	Error  *Error

	Fields []Member // members of Result if Finder.Fields is set; nil: use Members
}

// Message is one JSON-RPC message, in slices of its text.
type Message struct {
	Raw    []byte
	ID     []byte // empty: none
	Method []byte // unquoted; nil: a reply
	Params []byte // empty: none
}

// IsRequest reports whether the sender expects a reply.
func (m Message) IsRequest() bool { return m.Method != nil && !isNull(m.ID) }

// Number returns the id as a number. Some servers return it as a string. ok is false if it is none.
func (m Message) Number() (id int, ok bool) { return parseID(m.ID) }

// Find returns the reply to request id in a text: a message, a batch, or several messages in a row. Other
// messages are skipped. It returns ErrNoReply if there is none, and ErrSyntax, ErrDepth or ErrUTF8 for invalid
// JSON.
func Find(text []byte, id int) (*Reply, error) { return Finder{ID: id}.Find(text) }

// Finder finds one reply in any number of texts.
type Finder struct {
	ID    int
	Paged bool // the request is tools/list
	// Fields sets Reply.Fields in the same scan.
	Fields bool
	// Other, if set, receives the requests and notifications before the reply.
	Other func(Message)
}

// Find returns the reply in text, as the function Find does.
func (f Finder) Find(text []byte) (*Reply, error) {
	var found *Reply
	err := walkMessages(text, f.Paged, f.Fields, func(m messageEnvelope) bool {
		if m.Method != nil {
			if f.Other != nil {
				f.Other(m.Message)
			}
			return true
		}
		found = m.toReply(f.ID, f.Paged)
		return found == nil
	})
	switch {
	case found != nil:
		// Invalid text behind the reply is ignored: a stray line must not cost the list.
		return found, nil
	case err != nil:
		return nil, err
	}
	return nil, ErrNoReply
}

// Each calls do for every message of a text: a message, a batch, or several messages in a row. On invalid JSON,
// the messages before the fault have been handled.
func Each(text []byte, do func(Message)) error {
	return walkMessages(text, false, false, func(m messageEnvelope) bool {
		do(m.Message)
		return true
	})
}

// messageEnvelope is a message with the fields of a reply.
type messageEnvelope struct {
	Message
	resultJSON, errorJSON []byte
	page                  *Page
	fields                []Member
}

// walkMessages reads the messages of a text until more returns false.
func walkMessages(text []byte, paged, fields bool, more func(messageEnvelope) bool) error {
	s := &scanner{data: text}
	going := true
	message := func() error {
		m, ok, err := s.readMessage(paged, fields)
		if err == nil && ok && going {
			going = more(m)
		}
		return err
	}
	for s.peek() != 0 || s.pos < len(text) {
		var err error
		if s.peek() == '[' {
			err = s.readArray(message)
		} else {
			err = message()
		}
		if err != nil || !going {
			return err
		}
	}
	return nil
}

// readMessage reads one message; ok is false if the value is no object.
func (s *scanner) readMessage(paged, fields bool) (m messageEnvelope, ok bool, err error) {
	if s.peek() != '{' {
		return m, false, s.skipValue()
	}
	from := s.pos
	err = s.readObject(func(key []byte) (err error) {
		s.peek()
		start := s.pos
		switch string(key) {
		case "id":
			err = s.skipValue()
			m.ID = s.data[start:s.pos]
		case "method":
			err = s.skipValue()
			if method := s.data[start:s.pos]; string(method) != "null" { // some servers write every member
				m.Method = bytes.Trim(method, `"`)
			}
		case "params":
			err = s.skipValue()
			m.Params = s.data[start:s.pos]
		case "error":
			err = s.skipValue()
			m.errorJSON = s.data[start:s.pos]
		case "result":
			switch {
			case paged:
				m.page, err = s.readPage()
			case fields && s.nextIs('{'):
				m.fields, err = s.readMembers()
			default:
				err = s.skipValue()
			}
			m.resultJSON = s.data[start:s.pos]
		default:
			err = s.skipValue()
		}
		return err
	})
	m.Raw = s.data[from:s.pos]
	return m, true, err
}

// toReply returns the reply to request id; nil: it is none.
func (m messageEnvelope) toReply(id int, paged bool) *Reply {
	switch {
	case m.hasError() && (isNull(m.ID) || isSameID(m.ID, id)):
		// An error without an id answers an unreadable request, and only one is pending.
		return &Reply{Error: readError(m.errorJSON)}
	case !isSameID(m.ID, id) || m.resultJSON == nil:
		return nil
	case paged:
		return &Reply{Page: m.page}
	}
	return &Reply{Result: m.resultJSON, Fields: m.fields}
}

// hasError reports whether the message holds an error. Beside a result, an empty or false error is none.
func (m messageEnvelope) hasError() bool {
	if isNull(m.resultJSON) || isNull(m.errorJSON) {
		return !isNull(m.errorJSON)
	}
	switch string(bytes.Join(bytes.Fields(m.errorJSON[:min(len(m.errorJSON), 16)]), nil)) {
	case "false", "0", `""`, "{}", "[]":
		return false
	}
	return true
}

func isNull(id []byte) bool { return len(id) == 0 || string(id) == "null" }

// isSameID compares by value.
func isSameID(raw []byte, id int) bool {
	n, ok := parseID(raw)
	return ok && n == id
}

// parseID reads our id from a reply. Some servers return it as a string or as a float.
func parseID(raw []byte) (n int, ok bool) {
	text := string(bytes.Trim(raw, `"`))
	if n, err := strconv.Atoi(text); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	return int(f), err == nil && f == float64(int32(f))
}

// readError reads an error leniently: some servers quote the code, or send a string as the error.
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
