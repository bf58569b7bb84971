package mcp_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/mcp"
)

// resourceUsage is what hung servers must not leave behind.
type resourceUsage struct {
	goroutines, files int
	heap              uint64
}

// withoutProc skips a test that reads /proc, except on Linux.
func withoutProc(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "linux" {
		t.Fatal("there is no /proc")
	}
	t.Skip("/proc is of Linux")
}

func measureUsage(t *testing.T) resourceUsage {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		withoutProc(t)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // pools survive one collection
	runtime.ReadMemStats(&m)
	return resourceUsage{runtime.NumGoroutine(), len(files), m.HeapAlloc}
}

// isAbove reports whether usage grew by more than the runtime's own noise. Each way to hang meets each era
// several times.
func (u resourceUsage) isAbove(before resourceUsage) bool {
	return u.goroutines > before.goroutines+20 || u.files > before.files+20 || u.heap > before.heap+8<<20
}

var hangs = []struct{ name, head, again string }{
	{"says nothing", "", ""},
	{"stops in its headers", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n", ""},
	{"stops after its headers", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", ""},
	{"stops in its body", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{\"jsonrpc\":", ""},
	{"drips", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ", "x"},
}

// hangingServer hangs in the way that the path names, until it is stopped. silentURL never accepts a
// connection.
func hangingServer(t *testing.T) (url, silentURL string, stop func()) {
	t.Helper()
	l, never := listenLocally(t), listenLocally(t)
	over := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { holdConnection(conn, over) })
		}
	})
	return "http://" + l.Addr().String(), "http://" + never.Addr().String(), func() {
		close(over)
		_ = l.Close()
		_ = never.Close()
		all.Wait()
	}
}

func listenLocally(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// holdConnection reads a request and hangs until the client disconnects.
func holdConnection(conn net.Conn, over <-chan struct{}) {
	defer func() { _ = conn.Close() }()
	left := make(chan struct{})
	first := make([]byte, 4<<10)
	n, err := conn.Read(first)
	if err != nil {
		return
	}
	go func() { _, _ = io.Copy(io.Discard, conn); close(left) }()
	var way int
	_, _ = fmt.Sscanf(string(first[:n]), "POST /%d ", &way)
	_, _ = io.WriteString(conn, hangs[way].head)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-left:
			return
		case <-tick.C:
			_, _ = io.WriteString(conn, hangs[way].again)
		}
	}
}

// Not parallel: it measures the whole process.
func TestHungServers_LeaveNothingBehind(t *testing.T) {
	const servers, most = 1000, 2 * time.Minute // one after the other takes ten times as long
	transport := &http.Transport{DisableKeepAlives: true}
	d := &mcp.Dialer{Version: "1", HTTP: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	before := measureUsage(t)
	url, silentURL, stop := hangingServer(t)
	var syncs sync.WaitGroup
	var mu sync.Mutex // guards problems
	var problems []string
	began := time.Now()
	for i := range servers {
		way := i % (len(hangs) + 1)
		target := mcp.Target{URL: fmt.Sprintf("%s/%d", url, way), Timeout: time.Second, Era: []mcp.Era{mcp.EraUnknown, mcp.EraHandshake, mcp.EraModern}[i/6%3]}
		if way == len(hangs) {
			target.URL = silentURL
		}
		if i%7 == 0 {
			target.Transport = mcp.SSE
		}
		syncs.Go(func() {
			s, err := d.Dial(t.Context(), target)
			if err == nil {
				s.Close(t.Context())
			}
			if failure := asError(err); failure == nil || failure.Reason != mcp.ReasonTimeout {
				mu.Lock()
				defer mu.Unlock()
				problems = append(problems, fmt.Sprintf("%s: %v", target.URL, err))
			}
		})
	}
	syncs.Wait()
	took := time.Since(began)
	if took > most {
		t.Errorf("took %v", took)
	}
	if len(problems) > 0 {
		t.Errorf("%d of %d ended otherwise than by their timeout: %s", len(problems), servers, strings.Join(problems[:min(len(problems), 5)], "\n"))
	}
	stop()
	transport.CloseIdleConnections()
	after := measureUsage(t)
	// Runtime and kernel need a moment to release what was closed.
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); after.isAbove(before) && time.Now().Before(deadline); after = measureUsage(t) {
		<-tick.C
	}
	if after.isAbove(before) {
		stacks := make([]byte, 1<<20)
		t.Errorf("before %+v, after %+v\n%s", before, after, stacks[:runtime.Stack(stacks, true)])
	}
	t.Logf("%v; before %+v, after %+v", took, before, after)
}
