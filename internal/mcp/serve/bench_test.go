package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"patchbay/internal/mcp/serve"
)

// BenchmarkServeCall measures a call without net/http and without a backend.
func BenchmarkServeCall(b *testing.B) {
	d := &testBackend{answer: func(_ context.Context, r *serve.Request) (json.RawMessage, error) {
		r.ReleaseBody()
		return callResult, nil
	}}
	for name, a := range map[string]testRequest{
		"modern":    modernRequest("tools/call", `,"name":"add","arguments":{"a":1,"b":"two"}`, ""),
		"handshake": {body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":"two"}}}`},
		"10 KB":     modernRequest("tools/call", `,"name":"add","arguments":{"a":"`+strings.Repeat("x", 10<<10)+`"}`, ""),
	} {
		b.Run(name, func(b *testing.B) {
			s := serve.New(serve.Options{Origins: func(*http.Request) bool { return true }})
			r := httptest.NewRequest(http.MethodPost, "/", nil)
			body := []byte(a.body)
			for name, value := range a.header {
				r.Header.Set(name, value)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if name == "handshake" {
				r.Header.Set("Mcp-Session-Id", startedSession(s))
			}
			r.ContentLength = int64(len(body))
			ctx, stop := context.WithCancel(b.Context()) // as net/http has it
			defer stop()
			r = r.WithContext(ctx)
			reader := bytes.NewReader(body)
			w := &discardWriter{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				reader.Reset(body)
				r.Body = io.NopCloser(reader)
				s.Handle(w, r, "me", d)
			}
			if w.status != 0 || w.size == 0 {
				b.Fatalf("answered %d", w.status)
			}
		})
	}
}

var callResult = json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("y", 200) + `"}]}`)

type discardWriter struct {
	header http.Header
	status int
	size   int
}

func (s *discardWriter) Header() http.Header              { return s.header }
func (s *discardWriter) WriteHeader(status int)           { s.status = status }
func (s *discardWriter) Write(p []byte) (int, error)      { s.size += len(p); return len(p), nil }
func (s *discardWriter) Flush()                           {}
func (s *discardWriter) SetReadDeadline(time.Time) error  { return nil }
func (s *discardWriter) SetWriteDeadline(time.Time) error { return nil }

// BenchmarkIdleListeners measures the memory of an idle listener, with its connection.
func BenchmarkIdleListeners(b *testing.B) {
	const listeners = 1000
	listening := modernRequest("subscriptions/listen", `,"notifications":{"toolsListChanged":true}`, "")
	for b.Loop() {
		s := serve.New(serve.Options{})
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Handle(w, r, "me", &testBackend{}) }))
		host := strings.TrimPrefix(web.URL, "http://")
		warm := openListener(b, host, listening)
		before := heapInUse()
		conns := make([]net.Conn, 0, listeners+1)
		for range listeners {
			conns = append(conns, openListener(b, host, listening))
		}
		b.ReportMetric(float64(heapInUse()-before)/listeners, "B/listener")
		for _, conn := range append(conns, warm) {
			_ = conn.Close()
		}
		s.Stop(b.Context())
		web.Close()
	}
}

// openListener opens a stream over a bare connection, so that the client costs next to nothing, and reads its
// acknowledgement.
func openListener(b *testing.B, host string, a testRequest) net.Conn {
	b.Helper()
	conn, err := net.Dial("tcp", host)
	if err != nil {
		b.Fatal(err)
	}
	head := "POST / HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
		"Authorization: Bearer pb_agent_0123456789abcdef0123456789abcdef\r\nUser-Agent: bench\r\n"
	for name, value := range a.header {
		head += name + ": " + value + "\r\n"
	}
	if _, err := fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", head, len(a.body), a.body); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewReaderSize(conn, 512)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		if strings.HasPrefix(line, "data: ") {
			return conn
		}
	}
}

func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
