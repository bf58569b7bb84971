package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// mockServer is an MCP server of both eras that misbehaves on request and counts calls, sessions and streams.
// /modern is stateless; other paths require a session (2025-11-25, Mcp-Session-Id).
type mockServer struct {
	calls      callLog
	sessions   sessionTable
	tools      []byte
	open       atomic.Int64 // calls in progress
	streams    atomic.Int64 // those with an event stream
	listening  atomic.Int64 // open listener streams
	unexpected atomic.Int64 // requests that no correct client sends
}

func serveMock(ctx context.Context, out io.Writer) error {
	m := &mockServer{calls: callLog{byNumber: map[int64]int{}}, sessions: sessionTable{open: map[string]*mockSession{}}, tools: mockTools}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /stats", m.serveStats)
	mux.HandleFunc("POST /seen", m.serveSeen)
	mux.HandleFunc("/modern", m.serveModern)
	mux.HandleFunc("/old", m.serveLegacy)
	mux.HandleFunc("/shared", m.serveLegacy)
	return serveOn(ctx, mux, out)
}

// Both tools do the same. One is read-only, so that a call may be retried.
const (
	writeTool = "work"
	readTool  = "look"
)

var mockTools = []byte(`{"tools":[` + mockTool(writeTool, false) + `,` + mockTool(readTool, true) + `],"resultType":"complete","ttlMs":60000,"cacheScope":"private"}`)

func mockTool(name string, reads bool) string {
	return `{"name":"` + name + `","description":"Echoes its number.","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},` +
		`"size":{"type":"integer","minimum":0,"maximum":10000000},"sse":{"type":"boolean"},"note":{"type":"string","maxLength":200000},` +
		`"do":{"type":"string","enum":["","tell","cut","wait","forget"]}},"required":["n"],"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":` + strconv.FormatBool(reads) + `}}`
}

// mockMessage is a JSON-RPC message.
type mockMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments mockArguments   `json:"arguments"`
		RequestID json.RawMessage `json:"requestId"`
		Meta      struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

// mockArguments are a call's arguments: the echo, and the requested behavior.
type mockArguments struct {
	callArguments
	Do string `json:"do"`
}

// Behaviors of a call.
const (
	doProgress = "tell"   // sends progress before the result
	doCut      = "cut"    // aborts the connection in mid-reply, but not for a retry
	doWait     = "wait"   // sends progress, then blocks until the call is canceled
	doForget   = "forget" // deletes the session after the reply
)

func readMessage(r *http.Request) (m mockMessage, err error) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	return m, err
}

// serveModern serves revision 2026-07-28.
func (m *mockServer) serveModern(w http.ResponseWriter, r *http.Request) {
	s, err := readMessage(r)
	switch {
	case err != nil:
		m.writeError(w, http.StatusBadRequest, s.ID)
	case s.Method == "server/discover":
		writeReply(w, s.ID, []byte(`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"mock","version":"1"},"resultType":"complete"}`), false)
	case s.Method == "tools/list":
		writeReply(w, s.ID, m.tools, false)
	case s.Method == "tools/call":
		m.serveCall(w, r, s, nil)
	case s.Method == "subscriptions/listen":
		m.serveStream(w, r, nil, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},`+
			`"_meta":{"io.modelcontextprotocol/subscriptionId":`+string(s.ID)+`}}}`)
	default:
		m.writeError(w, http.StatusNotFound, s.ID)
	}
}

func (m *mockServer) writeError(w http.ResponseWriter, status int, id json.RawMessage) {
	m.unexpected.Add(1)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`, orNull(id))
}

// serveStream holds a stream with only its first message until the client disconnects or the session ends.
func (m *mockServer) serveStream(w http.ResponseWriter, r *http.Request, over <-chan struct{}, first string) {
	m.listening.Add(1)
	defer m.listening.Add(-1)
	w.Header().Set("Content-Type", "text/event-stream")
	if first != "" {
		_, _ = io.WriteString(w, "data: "+first+"\n\n")
	}
	_ = http.NewResponseController(w).Flush()
	select {
	case <-r.Context().Done():
	case <-over:
	}
}

// mockStats are the mock's counters, named as in the table.
type mockStats struct {
	Calls, Twice, Again, Open, Streams, Listening, Strange int64
	Cancelled, Abandoned                                   int64
	Opened, Deleted, Forgotten, Left, Lost, Foreign        int64
}

func (m *mockServer) serveStats(w http.ResponseWriter, _ *http.Request) {
	s := mockStats{Open: m.open.Load(), Streams: m.streams.Load(), Listening: m.listening.Load(), Strange: m.unexpected.Load()}
	m.calls.addStats(&s)
	m.sessions.addStats(&s)
	_ = json.NewEncoder(w).Encode(s)
}

// serveSeen returns how often each given call was received.
func (m *mockServer) serveSeen(w http.ResponseWriter, r *http.Request) {
	var numbers []int64
	if err := json.NewDecoder(r.Body).Decode(&numbers); err != nil {
		http.Error(w, "not a list of numbers", http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(m.calls.countCalls(numbers))
}

// requestAccount returns the account in the bench's bearer token: "a1" for "of-a1".
func requestAccount(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer of-")
}

// maxCallWait bounds a blocking call.
const maxCallWait = time.Minute
