package wire

import (
	"bytes"
	"errors"
)

// Incoming is one message that a client sent, with what a server must look at. All of it are slices of the text that it was read
// from, as they stand there; nil: it is not there.
type Incoming struct {
	Raw     []byte
	JSONRPC []byte
	ID      []byte
	Method  []byte // with its quotes
	Params  []byte
	Result  []byte
	Error   []byte

	// Of params, where they are an object.
	Name, URI, TaskID, Cursor, Arguments, Meta []byte
	Continues                                  bool // there is a requestState, or are inputResponses: it goes on with an earlier request
	// Of params._meta, where it is an object.
	Version, Client, Capabilities, ProgressToken, LogLevel []byte
}

// ReadIncoming reads a text that is one message, an object. It returns ErrSyntax, ErrDepth or ErrUTF8 where the text is no JSON
// and ErrNoMessage where it is, but no object.
func ReadIncoming(text []byte, m *Incoming) error {
	s := scanner{data: text}
	if err := s.incoming(m); err != nil {
		return err
	}
	if s.peek() != 0 || s.pos < len(text) {
		return ErrSyntax
	}
	return nil
}

// IsBatch tells whether a text, where it is JSON, is an array of messages.
func IsBatch(text []byte) bool {
	s := scanner{data: text}
	return s.peek() == '['
}

// ReadBatch reads a text that is an array of messages.
func ReadBatch(text []byte) (messages []Incoming, err error) {
	s := scanner{data: text}
	if s.peek() != '[' {
		return nil, ErrSyntax
	}
	err = s.array(func() error {
		var m Incoming
		if err := s.incoming(&m); err != nil {
			return err
		}
		messages = append(messages, m)
		return nil
	})
	if err == nil && (s.peek() != 0 || s.pos < len(text)) {
		err = ErrSyntax
	}
	return messages, err
}

// incoming reads one message.
func (s *scanner) incoming(m *Incoming) error {
	if s.peek() != '{' {
		if err := s.value(); err != nil {
			return err
		}
		return ErrNoMessage
	}
	from := s.pos
	err := s.object(func(key []byte) error {
		switch string(key) {
		case "jsonrpc":
			return s.raw(&m.JSONRPC)
		case "id":
			return s.raw(&m.ID)
		case "method":
			return s.raw(&m.Method)
		case "params":
			return s.params(m)
		case "result":
			return s.raw(&m.Result)
		case "error":
			return s.raw(&m.Error)
		}
		return s.value()
	})
	m.Raw = s.data[from:s.pos]
	return err
}

// params reads what is asked for.
func (s *scanner) params(m *Incoming) error {
	if s.peek() != '{' {
		return s.raw(&m.Params)
	}
	from := s.pos
	err := s.object(func(key []byte) error {
		switch string(key) {
		case "name":
			return s.raw(&m.Name)
		case "uri":
			return s.raw(&m.URI)
		case "taskId":
			return s.raw(&m.TaskID)
		case "cursor":
			return s.raw(&m.Cursor)
		case "arguments":
			return s.raw(&m.Arguments)
		case "_meta":
			return s.meta(m)
		case "requestState", "inputResponses":
			m.Continues = true
		}
		return s.value()
	})
	m.Params = s.data[from:s.pos:s.pos]
	return err
}

// meta reads what a request says of itself.
func (s *scanner) meta(m *Incoming) error {
	if s.peek() != '{' {
		return s.raw(&m.Meta)
	}
	from := s.pos
	err := s.object(func(key []byte) error {
		const modern = "io.modelcontextprotocol/"
		if string(key) == "progressToken" {
			return s.raw(&m.ProgressToken)
		}
		if !bytes.HasPrefix(key, []byte(modern)) {
			return s.value()
		}
		switch string(key[len(modern):]) {
		case "protocolVersion":
			return s.raw(&m.Version)
		case "clientInfo":
			return s.raw(&m.Client)
		case "clientCapabilities":
			return s.raw(&m.Capabilities)
		case "logLevel":
			return s.raw(&m.LogLevel)
		}
		return s.value()
	})
	m.Meta = s.data[from:s.pos:s.pos]
	return err
}

// raw reads any value and says where it stands.
func (s *scanner) raw(to *[]byte) error {
	s.peek()
	from := s.pos
	err := s.value()
	*to = s.data[from:s.pos:s.pos]
	return err
}

// Unquote is the text of a JSON string, as it stands in a message that was read; ok is false where raw is something else.
func Unquote(raw []byte) (text string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return word(raw[1 : len(raw)-1]), true
	}
	return unquote(raw)
}

// MemberOf is the value of an object's member, where the object has it; of several of one name the first.
func MemberOf(object []byte, name string) []byte {
	from, to := SpanOf(object, name)
	if from == to {
		return nil
	}
	return object[from:to:to]
}

// SpanOf is where the value of an object's member stands; both are 0 where there is none.
func SpanOf(object []byte, name string) (from, to int) {
	s := scanner{data: object}
	if s.peek() != '{' {
		return 0, 0
	}
	_ = s.object(func(key []byte) error {
		if string(key) != name {
			return s.value()
		}
		s.peek()
		start := s.pos
		if err := s.value(); err != nil {
			return err
		}
		from, to = start, s.pos
		return errFound
	})
	return from, to
}

// errFound ends the walk through an object.
var errFound = errors.New("found")
