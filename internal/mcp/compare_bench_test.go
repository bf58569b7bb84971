package mcp_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/safehttp"
)

// BenchmarkAgainstOthers reads a tool list from one server with four clients in one run: ours, with the
// production HTTP client; a minimal one by hand over net/http, with schemas as bytes (hand) or decoded
// (hand-any); and the SDK's. cpu-ns/op is this process's CPU alone; the server, which replays prepared bytes,
// is another process.
//
//	go test -run '^$' -bench AgainstOthers -count 5 ./internal/mcp
func BenchmarkAgainstOthers(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as in production, for all four
	for _, tools := range []int{10, 100, 1000} {
		for _, kind := range []string{"json", "sse"} {
			url := startReplay(b, tools, kind)
			for _, c := range []struct {
				name string
				list func(b *testing.B, client *http.Client, url string) int
			}{{"ours", listByOurs}, {"hand", listByHand[lazyTool]}, {"hand-any", listByHand[eagerTool]}, {"sdk", listBySDK}} {
				b.Run(fmt.Sprintf("%d/%s/%s", tools, kind, c.name), func(b *testing.B) {
					client := newClient(b).HTTP
					if c.name == "ours" {
						client = ourHTTP(b)
					}
					if got := c.list(b, client, url); got != tools { // also opens the connection
						b.Fatalf("%d tools", got)
					}
					b.ReportAllocs()
					b.ResetTimer()
					before := cpuTime(b)
					for b.Loop() {
						c.list(b, client, url)
					}
					b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
				})
			}
		}
	}
}

// BenchmarkCallAgainstHand calls a tool with a result of 1 KB in an open session of each era, and posts the
// same by hand. cpu-ns/op is this process's CPU alone.
func BenchmarkCallAgainstHand(b *testing.B) {
	arguments := json.RawMessage(`{"n":1,"text":"some words"}`)
	for _, kind := range []string{"json", "sse"} {
		url := startReplay(b, 1, kind)
		client := newClient(b).HTTP
		ours := func(era mcp.Era) func(b *testing.B) func() {
			return func(b *testing.B) func() {
				b.Helper()
				d := mcp.Dialer{HTTP: client, Version: "1"}
				s, err := d.Dial(b.Context(), mcp.Target{URL: url, Era: era, Timeout: patience})
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { s.Close(b.Context()) })
				return func() {
					if result, err := s.Call(b.Context(), mcp.Call{Name: "work", Arguments: arguments}); err != nil || len(result.Raw) < 1024 {
						b.Fatal(result, err)
					}
				}
			}
		}
		for _, c := range []struct {
			name string
			open func(b *testing.B) func()
		}{{"modern", ours(mcp.EraModern)}, {"handshake", ours(mcp.EraHandshake)}, {"hand", func(b *testing.B) func() { return func() { callByHand(b, client, url, arguments) } }}} {
			b.Run(kind+"/"+c.name, func(b *testing.B) {
				call := c.open(b)
				call()
				b.ReportAllocs()
				b.ResetTimer()
				before := cpuTime(b)
				for b.Loop() {
					call()
				}
				b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

func callByHand(b *testing.B, client *http.Client, url string, arguments []byte) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":` + string(arguments) + `}}`
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if reply, err := io.ReadAll(resp.Body); err != nil || len(reply) < 1024 {
		b.Fatal(len(reply), err)
	}
}

// ourHTTP is the production HTTP client.
func ourHTTP(b *testing.B) *http.Client {
	b.Helper()
	client := safehttp.New(safehttp.Options{Mode: safehttp.Local}).Client()
	b.Cleanup(client.CloseIdleConnections)
	return client
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func listByOurs(b *testing.B, client *http.Client, url string) int {
	d := mcp.Dialer{HTTP: client, Version: "1"}
	s, err := d.Dial(b.Context(), mcp.Target{URL: url, Era: mcp.EraHandshake, Timeout: patience})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close(b.Context())
	list, err := s.Tools(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return len(list.Tools)
}

func listBySDK(b *testing.B, client *http.Client, url string) int {
	s, err := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(),
		&sdk.StreamableClientTransport{Endpoint: url, HTTPClient: client, DisableStandaloneSSE: true},
		&sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	list, err := s.ListTools(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	return len(list.Tools)
}

// lazyTool leaves the schemas undecoded, because they are large.
type lazyTool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  json.RawMessage `json:"annotations"`
}

// eagerTool decodes everything, as most clients do.
type eagerTool struct {
	Name         string         `json:"name"`
	Title        string         `json:"title"`
	Description  string         `json:"description"`
	InputSchema  map[string]any `json:"inputSchema"`
	OutputSchema map[string]any `json:"outputSchema"`
	Annotations  map[string]any `json:"annotations"`
}

// listByHand is the minimal client: three POSTs, and the list decoded into structs. It bounds and checks
// nothing.
func listByHand[tool any](b *testing.B, client *http.Client, url string) int {
	post := func(body string, into any) {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := client.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		reply, err := io.ReadAll(resp.Body)
		if err != nil {
			b.Fatal(err)
		}
		if resp.Header.Get("Content-Type") == "text/event-stream" {
			reply = readEventByHand(reply)
		}
		if into == nil {
			return
		}
		if err := json.Unmarshal(reply, into); err != nil {
			b.Fatal(err)
		}
	}
	var welcome struct {
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
	}
	post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hand","version":"1"}}}`, &welcome)
	post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil)
	var list struct {
		Result struct {
			Tools      []tool  `json:"tools"`
			NextCursor *string `json:"nextCursor"`
		} `json:"result"`
	}
	post(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`, &list)
	return len(list.Result.Tools)
}

func readEventByHand(stream []byte) []byte {
	for line := range bytes.Lines(stream) {
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			return data
		}
	}
	return nil
}

// startReplay runs this test binary as a server that replays prepared bytes, and returns its URL.
func startReplay(b *testing.B, tools int, kind string) string {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=replay %d %s", peerMode, tools, kind))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// replay is that server: "replay 100 sse".
func replay(mode string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("http://%s/mcp\n", l.Addr())
	words := strings.Fields(mode)
	n, _ := strconv.Atoi(words[1])
	contentType, open, shut := "application/json", "", ""
	if words[2] == "sse" {
		contentType, open, shut = "text/event-stream", "event: message\ndata: ", "\n\n"
	}
	replies := map[string][]byte{
		"initialize": []byte(`,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"replay","version":"1"}}}` + shut),
		"tools/list": []byte(`,"result":{"tools":[` + strings.Join(mcptest.Tools(n), ",") + `]}}` + shut),
	}
	replies["tools/call"] = []byte(`,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 1024) + `"}]}}` + shut)
	replies["server/discover"] = []byte(`,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}}` + shut)
	unknown := []byte(`,"error":{"code":-32601,"message":"Method not found"}}` + shut)
	err = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		reply, ok := replies[m.Method]
		if !ok {
			reply = unknown
		}
		head := open + `{"jsonrpc":"2.0","id":` + string(m.ID)
		w.Header().Set("Content-Type", contentType)
		if open == "" { // a stream has no Content-Length
			w.Header().Set("Content-Length", strconv.Itoa(len(head)+len(reply)))
		}
		_, _ = io.WriteString(w, head)
		_, _ = w.Write(reply)
	}))
	if !errors.Is(err, net.ErrClosed) {
		panic(err)
	}
}
