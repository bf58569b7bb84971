package serve

import (
	"errors"
	"net/http"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// servePost answers a message, or a batch where the version has them.
func (r *httpRequest) servePost() {
	if !isJSON(r.r.Header) {
		r.rejectRequest(newStatusError(http.StatusUnsupportedMediaType, revision.CodeInvalidRequest, "Send application/json."))
		return
	}
	x := &exchange{httpRequest: *r}
	if x.acceptsJSON, x.acceptsStream = parseAccept(r.r.Header); !x.acceptsJSON && !x.acceptsStream {
		r.rejectRequest(newStatusError(http.StatusNotAcceptable, revision.CodeInvalidRequest, "Accept application/json and text/event-stream."))
		return
	}
	body := x.bufferFor(r.r.ContentLength)
	if failure := r.readBody(body); failure != nil {
		writeError(r.w, nil, failure)
		return
	}
	x.bodyReleased = true // until a backend sees it
	if wire.IsBatch(*body) {
		r.serveBatch(x, *body)
	} else {
		x.serveSingle(*body)
	}
	if x.bodyReleased {
		putBuffer(body)
	}
}

func (x *exchange) serveSingle(text []byte) {
	var m wire.Incoming
	if err := wire.ReadIncoming(text, &m); err != nil {
		x.sendError(parseError(err))
		return
	}
	x.serveMessage(&m)
}

func (x *exchange) serveMessage(m *wire.Incoming) {
	kind, failure := x.parseMessage(m)
	switch {
	case failure != nil:
		x.sendError(failure)
	case isModern(m, x.Method, x.r.Header):
		x.serveModern(kind, m)
	default:
		x.serveHandshake(kind, m)
	}
}

type messageKind int

const (
	requestKind messageKind = iota
	notificationKind
	responseKind
)

// parseMessage reads the members that every message has.
func (x *exchange) parseMessage(m *wire.Incoming) (messageKind, *RPCError) {
	if m.ID != nil {
		if !isValidID(m.ID) {
			return 0, invalidRequest("The id must be a string or an integer.")
		}
		x.ID = m.ID
	}
	if string(m.JSONRPC) != `"2.0"` {
		return 0, invalidRequest(`The message must have "jsonrpc": "2.0".`)
	}
	if m.Method == nil {
		if m.ID == nil || (m.Result == nil) == (m.Error == nil) {
			return 0, invalidRequest("The message must be a request, a notification or a response.")
		}
		return responseKind, nil
	}
	var ok bool
	if x.Method, ok = wire.Unquote(m.Method); !ok || x.Method == "" {
		return 0, invalidRequest("The method must be a string.")
	}
	if m.Params != nil && !isObject(m.Params) {
		if string(m.Params) != "null" {
			return 0, newStatusError(http.StatusBadRequest, revision.CodeInvalidParams, "The params must be an object.")
		}
		m.Params = nil // some clients write every member
	}
	if m.ID == nil {
		return notificationKind, nil
	}
	return requestKind, nil
}

// maxIDLength bounds a request id in bytes, as it is repeated in every event.
const maxIDLength = 1 << 10

func isValidID(id []byte) bool {
	if len(id) > maxIDLength {
		return false
	}
	return id[0] == '"' || id[0] == '-' || '0' <= id[0] && id[0] <= '9'
}

func invalidRequest(sentence string) *RPCError {
	return newStatusError(http.StatusBadRequest, revision.CodeInvalidRequest, sentence)
}

func parseError(err error) *RPCError {
	if errors.Is(err, wire.ErrNoMessage) {
		return invalidRequest("The body must be one JSON-RPC message.")
	}
	return newStatusError(http.StatusBadRequest, revision.CodeParse, "The body is not JSON.")
}

// isModern reports whether a message is of the modern era: by its _meta, or by a version header that is not of
// the handshake era.
func isModern(m *wire.Incoming, method string, h http.Header) bool {
	if m.Version != nil {
		return true
	}
	version := h[revision.HeaderVersion]
	return len(version) > 0 && method != "initialize" && !revision.Handshake.Supports(version[0])
}
