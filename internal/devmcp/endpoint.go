package devmcp

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
)

const (
	maxBody       = 4 << 20
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
)

// versions are the protocol versions that it speaks, newest first.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// endpoint is one MCP server over Streamable HTTP.
type endpoint struct {
	tools    []json.RawMessage
	known    map[string]bool
	stream   bool // answer with event streams
	pageSize int  // 0: all on one
	sessions *sessions
}

// ServeHTTP answers a message, or ends a session.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		e.post(w, r)
	case http.MethodDelete:
		if e.inSession(w, r) {
			e.sessions.end(r.Header.Get(sessionHeader))
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		// There is no stream of its own to GET: this server has nothing to say by itself.
		w.Header().Set("Allow", "POST, DELETE")
		http.Error(w, "POST messages here.", http.StatusMethodNotAllowed)
	}
}

func (e *endpoint) post(w http.ResponseWriter, r *http.Request) {
	if !acceptable(w, r) {
		return
	}
	var m message
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&m); err != nil {
		e.refuse(w, http.StatusBadRequest, rpcError{Code: -32700, Message: "The body is not one JSON-RPC message."})
		return
	}
	if m.Method != "initialize" && !e.inSession(w, r) {
		return
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result, failure := e.answer(m)
	if failure != nil {
		e.send(w, reply{JSONRPC: "2.0", ID: m.ID, Error: failure})
		return
	}
	if m.Method == "initialize" {
		w.Header().Set(sessionHeader, e.sessions.begin())
	}
	e.send(w, reply{JSONRPC: "2.0", ID: m.ID, Result: result})
}

// acceptable refuses a client that does not speak Streamable HTTP.
func acceptable(w http.ResponseWriter, r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	accept := strings.Join(r.Header.Values("Accept"), ",")
	switch version := r.Header.Get(versionHeader); {
	case kind != "application/json":
		http.Error(w, "The Content-Type must be application/json.", http.StatusUnsupportedMediaType)
	case !strings.Contains(accept, "*/*") &&
		!(strings.Contains(accept, "application/json") && strings.Contains(accept, "text/event-stream")):
		http.Error(w, "Accept must name application/json and text/event-stream.", http.StatusNotAcceptable)
	case version != "" && !slices.Contains(versions, version):
		http.Error(w, "This protocol version is unknown.", http.StatusBadRequest)
	default:
		return true
	}
	return false
}

// inSession refuses a request without a session (400), or with one that ended (404).
func (e *endpoint) inSession(w http.ResponseWriter, r *http.Request) bool {
	id := r.Header.Get(sessionHeader)
	if id != "" && e.sessions.has(id) {
		return true
	}
	status := http.StatusNotFound
	if id == "" {
		status = http.StatusBadRequest
	}
	e.refuse(w, status, rpcError{Code: -32001, Message: "The session is missing or has ended."})
	return false
}

func (e *endpoint) refuse(w http.ResponseWriter, status int, failure rpcError) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = encode(w, reply{JSONRPC: "2.0", ID: json.RawMessage("null"), Error: &failure})
}

// send writes a reply, as JSON or as the last event of a stream.
func (e *endpoint) send(w http.ResponseWriter, m reply) {
	if !e.stream {
		w.Header().Set("Content-Type", "application/json")
		_ = encode(w, m)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = fmt.Fprint(w, ": the reply follows\n\nevent: message\ndata: ")
	_ = encode(w, m) // ends its line
	_, _ = io.WriteString(w, "\n")
}

// encode writes JSON on one line, without escaping what HTML would need.
func encode(w io.Writer, m reply) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(m)
}
