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

// versions are the supported protocol versions, newest first.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// endpoint is one MCP server over Streamable HTTP.
type endpoint struct {
	tools    []json.RawMessage
	known    map[string]bool
	stream   bool // respond with event streams
	pageSize int  // 0: one page
	sessions *sessionSet
}

// ServeHTTP handles a message, or ends a session.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		e.handlePost(w, r)
	case http.MethodDelete:
		if e.inSession(w, r) {
			e.sessions.remove(r.Header.Get(sessionHeader))
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		// There is no GET stream: this server sends no messages of its own.
		w.Header().Set("Allow", "POST, DELETE")
		http.Error(w, "POST messages here.", http.StatusMethodNotAllowed)
	}
}

func (e *endpoint) handlePost(w http.ResponseWriter, r *http.Request) {
	if !isAcceptable(w, r) {
		return
	}
	var m rpcMessage
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&m); err != nil {
		e.writeError(w, http.StatusBadRequest, rpcError{Code: -32700, Message: "The body is not one JSON-RPC message."})
		return
	}
	if m.Method != "initialize" && !e.inSession(w, r) {
		return
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result, failure := e.handleRequest(m)
	if failure != nil {
		e.writeReply(w, rpcReply{JSONRPC: "2.0", ID: m.ID, Error: failure})
		return
	}
	if m.Method == "initialize" {
		w.Header().Set(sessionHeader, e.sessions.add())
	}
	e.writeReply(w, rpcReply{JSONRPC: "2.0", ID: m.ID, Result: result})
}

// isAcceptable refuses clients that do not speak Streamable HTTP.
func isAcceptable(w http.ResponseWriter, r *http.Request) bool {
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

// inSession refuses requests without a session (400) or with an ended one (404).
func (e *endpoint) inSession(w http.ResponseWriter, r *http.Request) bool {
	id := r.Header.Get(sessionHeader)
	if id != "" && e.sessions.has(id) {
		return true
	}
	status := http.StatusNotFound
	if id == "" {
		status = http.StatusBadRequest
	}
	e.writeError(w, status, rpcError{Code: -32001, Message: "The session is missing or has ended."})
	return false
}

func (e *endpoint) writeError(w http.ResponseWriter, status int, failure rpcError) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = encodeReply(w, rpcReply{JSONRPC: "2.0", ID: json.RawMessage("null"), Error: &failure})
}

// writeReply writes a reply as JSON, or as the last event of a stream.
func (e *endpoint) writeReply(w http.ResponseWriter, m rpcReply) {
	if !e.stream {
		w.Header().Set("Content-Type", "application/json")
		_ = encodeReply(w, m)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = fmt.Fprint(w, ": the reply follows\n\nevent: message\ndata: ")
	_ = encodeReply(w, m) // ends its line
	_, _ = io.WriteString(w, "\n")
}

// encodeReply writes one line of JSON without HTML escapes.
func encodeReply(w io.Writer, m rpcReply) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(m)
}
