package churn

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// base is the tool that every server always has.
const base = "base"

// server is an MCP server of one connector. It can be reached at two origins.
type server struct {
	name   string
	held   bool // its tools' changes wait for an admin
	legacy bool // it speaks 2025-11-25

	mu      sync.Mutex // guards what follows
	origins []string
	at      int
	changes int
	tools   map[string]string // with their versions
}

func newServer(name string, odd bool) *server {
	return &server{name: name, held: odd, legacy: odd, tools: map[string]string{base: "0", "steady": "0"}}
}

func (s *server) url() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.origins[s.at] + "/" + s.name
}

func (s *server) move() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = 1 - s.at
}

// list are the tools with their versions.
func (s *server) list() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]string, len(s.tools))
	for name, version := range s.tools {
		all[name] = version
	}
	return all
}

// change gives one tool another version, and another one comes and goes.
func (s *server) change() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	s.tools[base] = fmt.Sprint(s.changes)
	delete(s.tools, fmt.Sprintf("extra%d", s.changes-2))
	s.tools[fmt.Sprintf("extra%d", s.changes)] = "0"
}

// servers are all of them, behind two origins.
type servers struct {
	hosts []*httptest.Server
	mux   *http.ServeMux
}

func newServers() *servers {
	s := &servers{mux: http.NewServeMux()}
	for range 2 {
		s.hosts = append(s.hosts, httptest.NewServer(s.mux))
	}
	return s
}

func (s *servers) close() {
	for _, host := range s.hosts {
		host.CloseClientConnections()
		host.Close()
	}
}

func (s *servers) add(one *server) {
	for _, host := range s.hosts {
		one.origins = append(one.origins, host.URL)
	}
	s.mux.Handle("/"+one.name, one)
}

// ServeHTTP answers one message.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name      string
			Arguments struct{ N int64 }
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &m) != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	result := ""
	switch m.Method {
	case "server/discover":
		if !s.legacy {
			result = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"churn","version":"1"},"resultType":"complete"}`
		}
	case "initialize":
		if s.legacy {
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"churn","version":"1"}}`
		}
	case "tools/list":
		result = `{"tools":[` + strings.Join(s.definitions(), ",") + `],"resultType":"complete"}`
	case "tools/call":
		result = fmt.Sprintf(`{"content":[{"type":"text","text":"%s %s %d"}],"isError":false,"resultType":"complete"}`, s.name, m.Params.Name, m.Params.Arguments.N)
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case result == "":
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`, m.ID)
	default:
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}
}

func (s *server) definitions() (all []string) {
	for name, version := range s.list() {
		all = append(all, fmt.Sprintf(`{"name":%q,"description":"Version %s.","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`, name, version))
	}
	return all
}
