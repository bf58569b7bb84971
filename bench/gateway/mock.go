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

// mock is an MCP server of both eras that misbehaves when it is asked to, and counts: every call by its number, every session, every
// stream. At /modern it keeps nothing between requests; at any other path it wants a session (2025-11-25, Mcp-Session-Id).
type mock struct {
	ledger    ledger
	sessions  sessions
	tools     []byte
	open      atomic.Int64 // calls that have no answer yet
	streams   atomic.Int64 // replies of these that are event streams
	listening atomic.Int64 // streams that carry what the server says by itself
	strange   atomic.Int64 // requests that no client of ours has a reason for
}

func serveMock(ctx context.Context, out io.Writer) error {
	m := &mock{ledger: ledger{times: map[int64]int{}}, sessions: sessions{open: map[string]*session{}}, tools: mockTools}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /stats", m.stats)
	mux.HandleFunc("POST /seen", m.seen)
	mux.HandleFunc("/modern", m.modern)
	mux.HandleFunc("/old", m.handshake)
	mux.HandleFunc("/shared", m.handshake)
	return serveOn(ctx, mux, out)
}

// What the tools are called: they do the same, and one says that it only reads, so that a call of it may come again.
const (
	toolThatActs  = "work"
	toolThatReads = "look"
)

var mockTools = []byte(`{"tools":[` + mockTool(toolThatActs, false) + `,` + mockTool(toolThatReads, true) + `],"resultType":"complete","ttlMs":60000,"cacheScope":"private"}`)

func mockTool(name string, reads bool) string {
	return `{"name":"` + name + `","description":"Echoes its number.","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},` +
		`"size":{"type":"integer","minimum":0,"maximum":10000000},"sse":{"type":"boolean"},"note":{"type":"string","maxLength":200000},` +
		`"do":{"type":"string","enum":["","tell","cut","wait","forget"]}},"required":["n"],"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":` + strconv.FormatBool(reads) + `}}`
}

// said is what a message may hold.
type said struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments deed            `json:"arguments"`
		RequestID json.RawMessage `json:"requestId"`
		Meta      struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

// deed are the arguments of a call: what to echo, and how to behave.
type deed struct {
	callArguments
	Do string `json:"do"`
}

// The ways in which a call may go.
const (
	doTell   = "tell"   // progress comes before the result
	doCut    = "cut"    // the connection ends in the middle of the reply; not if the call comes again
	doWait   = "wait"   // there is progress, and then nothing until the call is cancelled
	doForget = "forget" // the session is thrown away behind the reply
)

func heard(r *http.Request) (m said, err error) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	return m, err
}

// modern answers in the era without handshakes.
func (m *mock) modern(w http.ResponseWriter, r *http.Request) {
	s, err := heard(r)
	switch {
	case err != nil:
		m.refuse(w, http.StatusBadRequest, s.ID)
	case s.Method == "server/discover":
		reply(w, s.ID, []byte(`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"mock","version":"1"},"resultType":"complete"}`), false)
	case s.Method == "tools/list":
		reply(w, s.ID, m.tools, false)
	case s.Method == "tools/call":
		m.call(w, r, s, nil)
	case s.Method == "subscriptions/listen":
		m.listen(w, r, nil, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},`+
			`"_meta":{"io.modelcontextprotocol/subscriptionId":`+string(s.ID)+`}}}`)
	default:
		m.refuse(w, http.StatusNotFound, s.ID)
	}
}

func (m *mock) refuse(w http.ResponseWriter, status int, id json.RawMessage) {
	m.strange.Add(1)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`, orNull(id))
}

// listen holds a stream on which nothing is said but its beginning, until the client goes, or the session ends.
func (m *mock) listen(w http.ResponseWriter, r *http.Request, over <-chan struct{}, first string) {
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

// mockStats is what the server has seen. The names are as in the table.
type mockStats struct {
	Calls, Twice, Again, Open, Streams, Listening, Strange int64
	Cancelled, Abandoned                                   int64
	Opened, Deleted, Forgotten, Left, Lost, Foreign        int64
}

func (m *mock) stats(w http.ResponseWriter, _ *http.Request) {
	s := mockStats{Open: m.open.Load(), Streams: m.streams.Load(), Listening: m.listening.Load(), Strange: m.strange.Load()}
	m.ledger.tell(&s)
	m.sessions.tell(&s)
	_ = json.NewEncoder(w).Encode(s)
}

// seen tells how often each of some calls has come.
func (m *mock) seen(w http.ResponseWriter, r *http.Request) {
	var numbers []int64
	if err := json.NewDecoder(r.Body).Decode(&numbers); err != nil {
		http.Error(w, "not a list of numbers", http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(m.ledger.of(numbers))
}

// account is the name in a bearer token that the bench has made up: "of-a1" is a1's.
func account(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer of-")
}

// patience is how long a call waits for its end.
const patience = time.Minute
