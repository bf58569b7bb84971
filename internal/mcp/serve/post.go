package serve

import (
	"errors"
	"net/http"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// post takes a message, or several where the version has that.
func (v *visit) post() {
	if !isJSON(v.r.Header) {
		v.turnAway(refusal(http.StatusUnsupportedMediaType, revision.CodeInvalidRequest, "Send application/json."))
		return
	}
	x := &exchange{visit: *v}
	if x.takesJSON, x.takesStream = accepted(v.r.Header); !x.takesJSON && !x.takesStream {
		v.turnAway(refusal(http.StatusNotAcceptable, revision.CodeInvalidRequest, "Accept application/json and text/event-stream."))
		return
	}
	body := x.bufferFor(v.r.ContentLength)
	if failure := v.read(body); failure != nil {
		writeError(v.w, nil, failure)
		return
	}
	x.released = true // unless a backend gets to see it
	if wire.IsBatch(*body) {
		v.batch(x, *body)
	} else {
		x.single(*body)
	}
	if x.released {
		reuse(body)
	}
}

// single answers a text that is one message.
func (x *exchange) single(text []byte) {
	var m wire.Incoming
	if err := wire.ReadIncoming(text, &m); err != nil {
		x.refuse(unreadable(err))
		return
	}
	x.message(&m)
}

// message answers one message.
func (x *exchange) message(m *wire.Incoming) {
	kind, failure := x.take(m)
	switch {
	case failure != nil:
		x.refuse(failure)
	case isModern(m, x.Method, x.r.Header):
		x.modern(kind, m)
	default:
		x.handshake(kind, m)
	}
}

// The kinds of messages.
type kind int

const (
	request kind = iota
	notification
	response
)

// take reads what every message has.
func (x *exchange) take(m *wire.Incoming) (kind, *RPCError) {
	if m.ID != nil {
		if !validID(m.ID) {
			return 0, invalid("The id must be a string or an integer.")
		}
		x.ID = m.ID
	}
	if string(m.JSONRPC) != `"2.0"` {
		return 0, invalid(`The message must say "jsonrpc": "2.0".`)
	}
	if m.Method == nil {
		if m.ID == nil || (m.Result == nil) == (m.Error == nil) {
			return 0, invalid("The message must be a request, a notification or a response.")
		}
		return response, nil
	}
	var ok bool
	if x.Method, ok = wire.Unquote(m.Method); !ok || x.Method == "" {
		return 0, invalid("The method must be a string.")
	}
	if m.Params != nil && !isObject(m.Params) {
		if string(m.Params) != "null" {
			return 0, refusal(http.StatusBadRequest, revision.CodeInvalidParams, "The params must be an object.")
		}
		m.Params = nil // some write every member that there is
	}
	if m.ID == nil {
		return notification, nil
	}
	return request, nil
}

// mostID bounds what is repeated in every event.
const mostID = 1 << 10

func validID(id []byte) bool {
	if len(id) > mostID {
		return false
	}
	return id[0] == '"' || id[0] == '-' || '0' <= id[0] && id[0] <= '9'
}

func invalid(sentence string) *RPCError {
	return refusal(http.StatusBadRequest, revision.CodeInvalidRequest, sentence)
}

func unreadable(err error) *RPCError {
	if errors.Is(err, wire.ErrNoMessage) {
		return invalid("The body must be one JSON-RPC message.")
	}
	return refusal(http.StatusBadRequest, revision.CodeParse, "The body is not JSON.")
}

// isModern tells which era a message is of: it says so itself, or its header names no version of the other era.
func isModern(m *wire.Incoming, method string, h http.Header) bool {
	if m.Version != nil {
		return true
	}
	version := h[revision.HeaderVersion]
	return len(version) > 0 && method != "initialize" && !revision.Handshake.Knows(version[0])
}
