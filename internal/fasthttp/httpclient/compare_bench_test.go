package httpclient_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serverMode names the environment variable that makes this test binary the server of a benchmark.
const serverMode = "H1_BENCH_SERVER"

func TestMain(m *testing.M) {
	if kind, ok := os.LookupEnv(serverMode); ok {
		replay(kind)
		return
	}
	os.Exit(m.Run())
}

// BenchmarkAgainstNetHTTP posts 1 KB and reads a response of 1 KB, alternately over h1 and over
// net/http.Transport. cpu-ns/op is the CPU of this process alone, without the server's.
//
//	go test -run '^$' -bench AgainstNetHTTP -count 5 ./internal/fasthttp/httpclient
func BenchmarkAgainstNetHTTP(b *testing.B) {
	body := strings.Repeat("q", 1<<10)
	for _, kind := range []string{"length", "chunked", "gzip"} {
		url := startReplay(b, kind)
		for _, c := range []struct {
			name string
			tr   http.RoundTripper
		}{{"h1", newTransport(b)}, {"net-http", netHTTP(b)}} {
			post := func() {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Accept", "application/json, text/event-stream")
				resp, err := c.tr.RoundTrip(r)
				if err != nil {
					b.Fatal(err)
				}
				n, err := io.Copy(io.Discard, resp.Body)
				if _ = resp.Body.Close(); err != nil || n != 1<<10 {
					b.Fatal(n, err)
				}
			}
			b.Run(kind+"/"+c.name, func(b *testing.B) {
				post() // opens the connection
				b.ReportAllocs()
				b.ResetTimer()
				before := cpuTime(b)
				for b.Loop() {
					post()
				}
				b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// startReplay runs this test binary as a server and returns its URL.
func startReplay(b *testing.B, kind string) string {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), self)
	cmd.Env = append(os.Environ(), serverMode+"="+kind)
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

// replay is the server of a benchmark. It runs until it is killed.
func replay(kind string) {
	reply := bytes.Repeat([]byte("a"), 1<<10)
	if kind == "gzip" {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, _ = w.Write(reply)
		_ = w.Close()
		reply = z.Bytes()
	}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		if kind == "gzip" {
			w.Header().Set("Content-Encoding", "gzip")
		}
		_, _ = w.Write(reply)
		if kind == "chunked" {
			_ = http.NewResponseController(w).Flush()
		}
	}))
	fmt.Println(up.URL)
	select {}
}

// BenchmarkExchange posts and reads over a connection without a network, which leaves the cost of this package.
func BenchmarkExchange(b *testing.B) {
	body := strings.Repeat("a", 1<<10)
	const head = ok + "Date: Sun, 22 Nov 2026 18:00:00 GMT\r\n"
	for kind, answer := range map[string]string{
		"length":  head + "Content-Length: 1024\r\n\r\n" + body,
		"chunked": head + "Transfer-Encoding: chunked\r\n\r\n" + chunked(body),
	} {
		b.Run(kind, func(b *testing.B) {
			tr, raw := newTransport(b), silentSocket(b)
			tr.Dial = func(context.Context, string, string) (net.Conn, error) {
				return silentConn{&replayConn{Conn: newScriptedConn(nil, 0), answer: answer}, raw}, nil
			}
			header := http.Header{
				"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-11-25"},
				"Mcp-Session-Id": {"0198c0de-0000-7000-8000-000000000000"}, "User-Agent": {"patchbay"}, "Authorization": {"Bearer " + body[:40]},
			}
			into := make([]byte, 4<<10)
			post := func() {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://127.0.0.1:8080/mcp", strings.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				r.Header = header
				resp, err := tr.RoundTrip(r)
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.ReadFull(resp.Body, into); n != len(body) {
					b.Fatal(n, err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				post()
			}
		})
	}
}

// replayConn responds to each request with the same bytes.
type replayConn struct {
	net.Conn
	answer, left string
}

func (p *replayConn) Write(b []byte) (int, error) {
	p.left = p.answer
	return len(b), nil
}

func (p *replayConn) Read(b []byte) (int, error) {
	n := copy(b, p.left)
	p.left = p.left[n:]
	return n, nil
}
