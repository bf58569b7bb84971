package serve

import (
	"encoding/json"

	"patchbay/internal/mcp/wire"
)

// ReadCall reads a tools/call, for a server in the process of its client, which needs no session and no checks of headers. ok is
// false for any other message.
func ReadCall(message []byte) (id json.RawMessage, call *Request, ok bool) {
	var m wire.Incoming
	if err := wire.ReadIncoming(message, &m); err != nil || m.ID == nil {
		return nil, nil, false
	}
	if method, _ := wire.Unquote(m.Method); method != "tools/call" {
		return nil, nil, false
	}
	return m.ID, &Request{ID: m.ID, Method: "tools/call", Arguments: m.Arguments, Meta: m.Meta}, true
}

// IsJSON reports whether a text is valid JSON. Objects are read as those of servers are, which takes a third of the time.
func IsJSON(text []byte) bool {
	if len(text) > 0 && text[0] == '{' {
		return wire.IsObject(text)
	}
	return json.Valid(text)
}
