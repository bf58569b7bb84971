package mcptest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Server runs a script.
type Server struct {
	URL string // of the MCP endpoint

	script Script
	http   *httptest.Server
	memory *memoryListener // nil: uses the network

	mu    sync.Mutex // guards the fields below
	tools []string
	icons string
	calls []Call
	count map[string]int
}

// Start serves the script on loopback until the test ends.
func Start(t testing.TB, script Script) *Server {
	t.Helper()
	s := newServer(script)
	s.http = httptest.NewServer(s)
	s.endWith(t)
	return s
}

func newServer(script Script) *Server {
	return &Server{script: script, tools: script.Tools, icons: script.Icons, count: map[string]int{}}
}

// endWith sets the URL, and stops the server with the test.
func (s *Server) endWith(t testing.TB) {
	s.URL = s.http.URL + "/mcp"
	t.Cleanup(s.Stop)
}

// SetTools changes the list for later calls.
func (s *Server) SetTools(tools ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = tools
}

// Calls returns the received calls in order.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// Methods returns the methods of the received calls in order.
func (s *Server) Methods() []string {
	var methods []string
	for _, c := range s.Calls() {
		methods = append(methods, c.Method)
	}
	return methods
}

// Stop stops the server early: further connections are refused.
func (s *Server) Stop() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// ServeHTTP handles a request by the script.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call, err := s.recordCall(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if handle, ok := s.script.On[call.Method]; ok {
		handle(w, r, call)
		return
	}
	s.Default(w, r, call)
}

// Default handles a call as if the script had no Handler for it.
func (s *Server) Default(w http.ResponseWriter, r *http.Request, c Call) {
	if s.script.Bearer != "" && r.Header.Get("Authorization") != "Bearer "+s.script.Bearer {
		w.Header().Set("WWW-Authenticate", `Bearer realm="mcptest", error="invalid_token"`)
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	if s.script.Modern {
		s.answerModern(w, c)
		return
	}
	if s.script.SessionID != "" && c.Method != "initialize" && r.Header.Get("Mcp-Session-Id") != s.script.SessionID {
		http.Error(w, "unknown", http.StatusNotFound)
		return
	}
	switch c.Method {
	case "initialize":
		s.answerInitialize(w, c)
	case "tools/list":
		s.answerList(w, c)
	case http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	case http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		s.answerUnknown(w, c)
	}
}

func (s *Server) answerInitialize(w http.ResponseWriter, c Call) {
	var params struct{ ProtocolVersion string }
	_ = json.Unmarshal(c.Params, &params)
	version := params.ProtocolVersion
	if s.script.Version != "" {
		version = s.script.Version
	}
	if s.script.SessionID != "" {
		w.Header().Set("Mcp-Session-Id", s.script.SessionID)
	}
	s.sendReply(w, Result(c, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,`+
		`"serverInfo":%s,"instructions":"Be kind."}`, version, s.capabilitiesJSON(), s.infoJSON())))
}

func (s *Server) infoJSON() string {
	s.mu.Lock()
	icons := s.icons
	s.mu.Unlock()
	if icons != "" {
		icons = `,"icons":` + icons
	}
	return `{"name":"mcptest","version":"1.0","title":"A scripted server"` + icons + `}`
}

// SetIcons replaces the icons of serverInfo.
func (s *Server) SetIcons(icons string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.icons = icons
}

func (s *Server) capabilitiesJSON() string {
	return cmp.Or(s.script.Capabilities, `{"tools":{}}`)
}

// answerModern responds as a strict server of 2026-07-28.
func (s *Server) answerModern(w http.ResponseWriter, c Call) {
	var params struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	_ = json.Unmarshal(c.Params, &params)
	var version string
	_ = json.Unmarshal(params.Meta["io.modelcontextprotocol/protocolVersion"], &version)
	refuse := func(code int, message string) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, Failure(c, code, message))
	}
	switch {
	case c.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case c.Method != c.Header.Get("Mcp-Method") || version != c.Header.Get("Mcp-Protocol-Version"):
		refuse(-32020, "the headers do not say what the body says")
	case params.Meta["io.modelcontextprotocol/clientCapabilities"] == nil:
		refuse(-32602, "no capabilities")
	case c.Method == "server/discover":
		s.sendReply(w, Result(c, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+s.capabilitiesJSON()+`,`+
			`"_meta":{"io.modelcontextprotocol/serverInfo":`+s.infoJSON()+`},`+
			`"instructions":"Be kind.","ttlMs":0,"cacheScope":"private"}`))
	case c.Method == "tools/list":
		s.answerList(w, c)
	default:
		s.answerUnknown(w, c)
	}
}

func (s *Server) answerList(w http.ResponseWriter, c Call) {
	s.mu.Lock()
	tools := s.tools
	s.mu.Unlock()
	var params struct{ Cursor string }
	_ = json.Unmarshal(c.Params, &params)
	from, _ := strconv.Atoi(params.Cursor)
	from = min(max(from, 0), len(tools))
	to, next := len(tools), ""
	if size := s.script.PageSize; size > 0 && from+size < len(tools) {
		to = from + size
		next = fmt.Sprintf(`,"nextCursor":"%d"`, to)
	}
	kind := ""
	if s.script.Modern {
		kind = `"resultType":"complete",`
	}
	s.sendReply(w, Result(c, `{`+kind+`"tools":[`+strings.Join(tools[from:to], ",")+`]`+next+`}`))
}

func (s *Server) answerUnknown(w http.ResponseWriter, c Call) {
	if c.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.sendReply(w, Failure(c, -32601, "Method not found"))
}

func (s *Server) sendReply(w http.ResponseWriter, reply string) {
	if s.script.Stream {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, Event(reply))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, reply)
}

func (s *Server) recordCall(r *http.Request) (Call, error) {
	call := Call{Method: r.Method, Header: r.Header.Clone(), Path: r.URL.Path}
	if r.Method == http.MethodPost {
		var message struct {
			Method                    string
			ID, Params, Result, Error json.RawMessage
		}
		if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
			return Call{}, fmt.Errorf("read the request: %w", err)
		}
		call.Method, call.ID, call.Params = message.Method, message.ID, message.Params
		call.Result, call.Error = message.Result, message.Error
	}
	// Read to EOF: net/http detects a disconnect only after the body.
	_, _ = io.Copy(io.Discard, r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count[call.Method]++
	call.N = s.count[call.Method]
	s.calls = append(s.calls, call)
	return call, nil
}
