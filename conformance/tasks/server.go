package main

import (
	"encoding/json"
	"io"
	"net/http"
	"sync"
)

const (
	tasksExtension = "io.modelcontextprotocol/tasks"

	codeMethodNotFound    = -32601
	codeInvalidParams     = -32602
	codeHeaderMismatch    = -32020
	codeMissingCapability = -32021
)

type jsonMembers = map[string]any

// server answers each request by itself, as servers of 2026-07-28 do.
type server struct {
	mu    sync.Mutex
	tasks map[string]*task // by id
}

func newServer() *server { return &server{tasks: map[string]*task{}} }

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params requestParams   `json:"params"`
}

type requestParams struct {
	Name      string `json:"name"`
	URI       string `json:"uri"`
	TaskID    string `json:"taskId"`
	Arguments struct {
		Name    string  `json:"name"`
		Seconds float64 `json:"seconds"`
	} `json:"arguments"`
	InputResponses map[string]inputResponse `json:"inputResponses"`
	Meta           struct {
		Client struct {
			Extensions map[string]json.RawMessage `json:"extensions"`
		} `json:"io.modelcontextprotocol/clientCapabilities"`
	} `json:"_meta"`
}

type inputResponse struct {
	Action  string      `json:"action"`
	Content jsonMembers `json:"content"`
}

// hasTasks reports whether the client declares the extension in this request.
func (p *requestParams) hasTasks() bool { return p.Meta.Client.Extensions[tasksExtension] != nil }

// rpcError is a JSON-RPC error.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func missingTasks() *rpcError {
	return &rpcError{
		Code: codeMissingCapability, Message: "This needs tasks.",
		Data: jsonMembers{"requiredCapabilities": jsonMembers{"extensions": jsonMembers{tasksExtension: jsonMembers{}}}},
	}
}

// ServeHTTP implements [http.Handler].
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&m); err != nil {
		http.Error(w, "not a JSON-RPC message", http.StatusBadRequest)
		return
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.Method == "subscriptions/listen" {
		holdStream(w, r)
		return
	}
	result, failure := s.handleRequest(r, &m)
	reply := jsonMembers{"jsonrpc": "2.0", "id": m.ID}
	w.Header().Set("Content-Type", "application/json")
	if failure != nil {
		reply["error"] = failure
		w.WriteHeader(http.StatusBadRequest)
	} else {
		reply["result"] = result
	}
	_ = json.NewEncoder(w).Encode(reply)
}

// holdStream opens a stream of notifications on which nothing happens.
func holdStream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	const acknowledged = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true}}}`
	_, _ = io.WriteString(w, "data: "+acknowledged+"\n\n")
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func (s *server) handleRequest(r *http.Request, m *request) (jsonMembers, *rpcError) {
	if !hasMatchingHeaders(r.Header, m) {
		return nil, &rpcError{Code: codeHeaderMismatch, Message: "The headers are not those of the request."}
	}
	switch m.Method {
	case "server/discover":
		return jsonMembers{
			"resultType": "complete", "supportedVersions": []string{"2026-07-28"}, "ttlMs": 0, "cacheScope": "private",
			"capabilities": jsonMembers{"tools": jsonMembers{"listChanged": true}, "resources": jsonMembers{}, "extensions": jsonMembers{tasksExtension: jsonMembers{}, skillsExtension: jsonMembers{}}},
			"_meta":        jsonMembers{"io.modelcontextprotocol/serverInfo": jsonMembers{"name": "tasks", "version": "1"}},
		}, nil
	case "tools/list":
		return jsonMembers{"resultType": "complete", "tools": listTools(), "ttlMs": 0, "cacheScope": "private"}, nil
	case "tools/call":
		return s.callTool(r.Context(), m.Params)
	case "skills/list":
		return listSkills(), nil
	case "resources/list":
		return listResources(), nil
	case "resources/read":
		return readResource(m.Params.URI)
	case "tasks/get", "tasks/update", "tasks/cancel":
		return s.handleTask(m)
	default:
		return nil, &rpcError{Code: codeMethodNotFound, Message: "Method not found"}
	}
}

// hasMatchingHeaders reports whether the headers that mirror the request are missing or right.
func hasMatchingHeaders(h http.Header, m *request) bool {
	name := m.Params.TaskID
	switch m.Method {
	case "tools/call":
		name = m.Params.Name
	case "resources/read":
		name = m.Params.URI
	}
	method, mirrored := h.Get("Mcp-Method"), h.Get("Mcp-Name")
	return (method == "" || method == m.Method) && (mirrored == "" || name == "" || mirrored == name)
}
