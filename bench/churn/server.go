package churn

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
)

// base is a name in every list of every server.
const base = "base"

// offersAll are the capabilities of every server.
const offersAll = `{"tools":{},"prompts":{},"resources":{}}`

// server is the MCP server of one connector, at two origins.
type server struct {
	name   string
	held   bool // changes wait for an admin
	legacy bool // 2025-11-25

	mu          sync.Mutex // guards the fields below
	origins     []string
	originIndex int
	changes     int
	versions    map[string]string // of the entries of each list, by name
}

func newServer(name string, isOdd bool) *server {
	return &server{name: name, held: isOdd, legacy: isOdd, versions: map[string]string{base: "0", "steady": "0"}}
}

func (s *server) currentURL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.origins[s.originIndex] + "/" + s.name
}

func (s *server) switchOrigin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.originIndex = 1 - s.originIndex
}

// currentVersions are the versions of the entries of each list, by name.
func (s *server) currentVersions() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.versions)
}

// changeLists changes the version of an entry of each list, adds one and removes one.
func (s *server) changeLists() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	s.versions[base] = fmt.Sprint(s.changes)
	delete(s.versions, fmt.Sprintf("extra%d", s.changes-2))
	s.versions[fmt.Sprintf("extra%d", s.changes)] = "0"
}

// serverGroup holds all servers, behind two origins.
type serverGroup struct {
	hosts []*httptest.Server
	mux   *http.ServeMux
}

func newServers() *serverGroup {
	s := &serverGroup{mux: http.NewServeMux()}
	for range 2 {
		s.hosts = append(s.hosts, httptest.NewServer(s.mux))
	}
	return s
}

func (s *serverGroup) close() {
	for _, host := range s.hosts {
		host.CloseClientConnections()
		host.Close()
	}
}

func (s *serverGroup) addServer(server *server) {
	for _, host := range s.hosts {
		server.origins = append(server.origins, host.URL)
	}
	s.mux.Handle("/"+server.name, server)
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
			result = `{"supportedVersions":["2026-07-28"],"capabilities":` + offersAll + `,"serverInfo":{"name":"churn","version":"1"},"resultType":"complete"}`
		}
	case "initialize":
		if s.legacy {
			result = `{"protocolVersion":"2025-11-25","capabilities":` + offersAll + `,"serverInfo":{"name":"churn","version":"1"}}`
		}
	case "tools/call":
		result = fmt.Sprintf(`{"content":[{"type":"text","text":"%s %s %d"}],"isError":false,"resultType":"complete"}`, s.name, m.Params.Name, m.Params.Arguments.N)
	}
	if n := slices.IndexFunc(allLists, func(k listKind) bool { return k.method == m.Method }); n >= 0 {
		result = allLists[n].newResult(s.currentVersions())
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
