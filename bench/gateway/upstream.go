package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// echoServer is a cheap MCP server that echoes, counts, and remembers call numbers.
type echoServer struct {
	calls, twice, open, streams, maxOpen atomic.Int64
	tools                                [3][]byte // tools/list results by list size
	prose                                bool      // results are prose

	mu   sync.Mutex
	seen map[int64]struct{} // guarded by mu; call numbers
}

// listSizes are the numbers of tools at /20, /1000 and /1.
var listSizes = [3]int{20, 1000, 1}

func serveUpstream(ctx context.Context, prose bool, out io.Writer) error {
	u := &echoServer{seen: map[int64]struct{}{}, prose: prose}
	for i, n := range listSizes {
		u.tools[i] = toolList(n)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/stats", u.serveStats)
	mux.HandleFunc("GET /api/openapi.json", serveDocument)
	mux.HandleFunc("POST /api/", u.serveAPI)
	for i, n := range listSizes {
		mux.HandleFunc("/"+strconv.Itoa(n), func(w http.ResponseWriter, r *http.Request) { u.serveMCP(w, r, u.tools[i]) })
	}
	return serveOn(ctx, mux, out)
}

// serveOn serves on a free loopback port and prints its URL.
func serveOn(ctx context.Context, h http.Handler, out io.Writer) error {
	var on net.ListenConfig
	listener, err := on.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "http://%s\n", listener.Addr())
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}

// callArguments are the arguments of the tool "work".
type callArguments struct {
	N    int64 `json:"n"`
	Size int   `json:"size"`
	SSE  bool  `json:"sse"`
}

func (u *echoServer) serveMCP(w http.ResponseWriter, r *http.Request, tools []byte) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name      string        `json:"name"`
			Arguments callArguments `json:"arguments"`
		} `json:"params"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		http.Error(w, "not JSON", http.StatusBadRequest)
		return
	}
	switch m.Method {
	case "server/discover":
		writeReply(w, m.ID, []byte(`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"},"resultType":"complete"}`), false)
	case "tools/list":
		writeReply(w, m.ID, tools, false)
	case "tools/call":
		u.serveCall(w, m.ID, m.Params.Name, m.Params.Arguments)
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`, orNull(m.ID))
	}
}

func orNull(id json.RawMessage) json.RawMessage {
	if len(id) == 0 {
		return json.RawMessage("null")
	}
	return id
}

func (u *echoServer) serveCall(w http.ResponseWriter, id json.RawMessage, tool string, a callArguments) {
	u.calls.Add(1)
	u.maxOpen.Store(max(u.maxOpen.Load(), u.open.Add(1)))
	defer u.open.Add(-1)
	if a.SSE {
		u.streams.Add(1)
		defer u.streams.Add(-1)
	}
	u.mu.Lock()
	if _, twice := u.seen[a.N]; twice && a.N != 0 {
		u.twice.Add(1)
	}
	u.seen[a.N] = struct{}{}
	u.mu.Unlock()
	result := echoResult(a, u.prose)
	if tool == "work_json" {
		result = jsonResult(a, u.prose)
	}
	writeReply(w, id, result, a.SSE)
}

// echoResult returns a call's number, repeated up to the requested size.
func echoResult(a callArguments, prose bool) []byte {
	text := resultText(a.N, a.Size, prose)
	b := make([]byte, 0, len(text)+80)
	b = append(b, `{"content":[{"type":"text","text":"`...)
	b = append(b, text...)
	return append(b, `"}],"isError":false,"resultType":"complete"}`...)
}

// jsonResult has the text in an object, as text and as structured content.
func jsonResult(a callArguments, prose bool) []byte {
	text := resultText(a.N, a.Size, prose)
	b := make([]byte, 0, 2*len(text)+160)
	b = append(append(b, `{"content":[{"type":"text","text":"{\"text\":\"`...), text...)
	b = append(append(b, `\"}"}],"structuredContent":{"text":"`...), text...)
	return append(b, `"},"isError":false,"resultType":"complete"}`...)
}

func writeReply(w http.ResponseWriter, id json.RawMessage, result []byte, sse bool) {
	b := make([]byte, 0, len(result)+80)
	if sse {
		b = append(b, "event: message\ndata: "...)
	}
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"result":`...)
	b = append(b, result...)
	b = append(b, '}')
	if sse {
		b = append(b, "\n\n"...)
		w.Header().Set("Content-Type", "text/event-stream")
	} else {
		w.Header().Set("Content-Type", "application/json")
	}
	_, _ = w.Write(b)
}

// toolList returns a list of n tools of about 1 KB. The first ones are called.
func toolList(n int) []byte {
	const echo = `"description":"Echoes its number.","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},` +
		`"size":{"type":"integer","minimum":0,"maximum":10000000},"sse":{"type":"boolean"},"note":{"type":"string","maxLength":200000}},"required":["n"],"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true}}`
	tools := []string{`{"name":"work",` + echo, `{"name":"work_json","outputSchema":` + jsonAnswer + `,` + echo}[:min(n, 2)]
	for i := 2; i < n; i++ {
		tools = append(tools, fmt.Sprintf(`{"name":"tool_%04d","description":"%s","inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"What to look for."},`+
			`"limit":{"type":"integer","minimum":1,"maximum":200}},"required":["query"]}}`, i, strings.Repeat("Says what it is for. ", 40)))
	}
	return []byte(`{"tools":[` + strings.Join(tools, ",") + `],"resultType":"complete","ttlMs":60000,"cacheScope":"private"}`)
}

// upstreamStats are the server's counters.
type upstreamStats struct {
	Calls, Twice, Open, Streams, Most, Different int64
}

func (u *echoServer) serveStats(w http.ResponseWriter, _ *http.Request) {
	u.mu.Lock()
	different := int64(len(u.seen))
	u.mu.Unlock()
	_ = json.NewEncoder(w).Encode(upstreamStats{
		Calls: u.calls.Load(), Twice: u.twice.Load(), Open: u.open.Load(), Streams: u.streams.Load(), Most: u.maxOpen.Load(), Different: different,
	})
}
