package wire

import (
	"bytes"
	"errors"
)

// Incoming is one message of a client with the fields that a server examines. All are slices of the text; nil:
// absent.
type Incoming struct {
	Raw     []byte
	JSONRPC []byte
	ID      []byte
	Method  []byte // quoted
	Params  []byte
	Result  []byte
	Error   []byte

	// Members of params, if it is an object.
	Name, URI, TaskID, Cursor, Arguments, Meta, Task []byte
	Continues                                        bool // requestState or inputResponses is present: it continues an earlier request
	// Members of params._meta, if it is an object.
	Version, Client, Capabilities, ProgressToken, LogLevel []byte
}

// ReadIncoming reads one message. It returns ErrSyntax, ErrDepth or ErrUTF8 for invalid JSON and ErrNoMessage
// for JSON that is no object.
func ReadIncoming(text []byte, m *Incoming) error {
	s := scanner{data: text}
	if err := s.readIncoming(m); err != nil {
		return err
	}
	if s.peek() != 0 || s.pos < len(text) {
		return ErrSyntax
	}
	return nil
}

// IsBatch reports whether a text begins as a JSON array.
func IsBatch(text []byte) bool {
	s := scanner{data: text}
	return s.peek() == '['
}

// ReadBatch reads an array of messages.
func ReadBatch(text []byte) (messages []Incoming, err error) {
	s := scanner{data: text}
	if s.peek() != '[' {
		return nil, ErrSyntax
	}
	err = s.readArray(func() error {
		var m Incoming
		if err := s.readIncoming(&m); err != nil {
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

// readIncoming reads one message.
func (s *scanner) readIncoming(m *Incoming) error {
	if s.peek() != '{' {
		if err := s.skipValue(); err != nil {
			return err
		}
		return ErrNoMessage
	}
	from := s.pos
	err := s.readObject(func(key []byte) error {
		switch string(key) {
		case "jsonrpc":
			return s.readRaw(&m.JSONRPC)
		case "id":
			return s.readRaw(&m.ID)
		case "method":
			return s.readRaw(&m.Method)
		case "params":
			return s.readParams(m)
		case "result":
			return s.readRaw(&m.Result)
		case "error":
			return s.readRaw(&m.Error)
		}
		return s.skipValue()
	})
	m.Raw = s.data[from:s.pos]
	return err
}

// readParams reads the members of params.
func (s *scanner) readParams(m *Incoming) error {
	if s.peek() != '{' {
		return s.readRaw(&m.Params)
	}
	from := s.pos
	err := s.readObject(func(key []byte) error {
		switch string(key) {
		case "name":
			return s.readRaw(&m.Name)
		case "uri":
			return s.readRaw(&m.URI)
		case "taskId":
			return s.readRaw(&m.TaskID)
		case "cursor":
			return s.readRaw(&m.Cursor)
		case "arguments":
			return s.readRaw(&m.Arguments)
		case "task":
			return s.readRaw(&m.Task)
		case "_meta":
			return s.readMeta(m)
		case "requestState", "inputResponses":
			m.Continues = true
		}
		return s.skipValue()
	})
	m.Params = s.data[from:s.pos:s.pos]
	return err
}

// readMeta reads the members of _meta.
func (s *scanner) readMeta(m *Incoming) error {
	if s.peek() != '{' {
		return s.readRaw(&m.Meta)
	}
	from := s.pos
	err := s.readObject(func(key []byte) error {
		const modern = "io.modelcontextprotocol/"
		if string(key) == "progressToken" {
			return s.readRaw(&m.ProgressToken)
		}
		if !bytes.HasPrefix(key, []byte(modern)) {
			return s.skipValue()
		}
		switch string(key[len(modern):]) {
		case "protocolVersion":
			return s.readRaw(&m.Version)
		case "clientInfo":
			return s.readRaw(&m.Client)
		case "clientCapabilities":
			return s.readRaw(&m.Capabilities)
		case "logLevel":
			return s.readRaw(&m.LogLevel)
		}
		return s.skipValue()
	})
	m.Meta = s.data[from:s.pos:s.pos]
	return err
}

// readRaw reads any value and sets *to to its bytes.
func (s *scanner) readRaw(to *[]byte) error {
	s.peek()
	from := s.pos
	err := s.skipValue()
	*to = s.data[from:s.pos:s.pos]
	return err
}

// Unquote decodes a valid JSON string; ok is false for other values.
func Unquote(raw []byte) (text string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return internString(raw[1 : len(raw)-1]), true
	}
	return unquoteString(raw)
}

// FindMember returns the value of an object's member, of duplicates the first; nil: absent.
func FindMember(object []byte, name string) []byte {
	from, to := FindMemberSpan(object, name)
	if from == to {
		return nil
	}
	return object[from:to:to]
}

// FindMemberSpan returns the position of a member's value; both are 0 if it is absent.
func FindMemberSpan(object []byte, name string) (from, to int) {
	s := scanner{data: object}
	if s.peek() != '{' {
		return 0, 0
	}
	_ = s.readObject(func(key []byte) error {
		if string(key) != name {
			return s.skipValue()
		}
		s.peek()
		start := s.pos
		if err := s.skipValue(); err != nil {
			return err
		}
		from, to = start, s.pos
		return errFound
	})
	return from, to
}

// errFound stops the scan of an object.
var errFound = errors.New("found")
