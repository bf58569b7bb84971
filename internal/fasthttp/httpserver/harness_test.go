package httpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/fasthttp/httpserver"
	"patchbay/internal/fasthttp/tcp"
)

// testServer is a server and its log.
type testServer struct {
	*httpserver.Server
	addr      string
	log       *logBuffer
	panicPath atomic.Value // Accepts panics for this path
}

// logBuffer collects log lines.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// servedBy is the response field with the name of the server.
const servedBy = "X-Served-By"

// openServer serves plain requests below /mcp by the fast path, and the rest by net/http.
func openServer(t *testing.T, o httpserver.Options) *testServer {
	t.Helper()
	h := o.Handler
	o.Handler = markServedBy("fast", h)
	o.Fallback = &http.Server{Handler: markServedBy("net/http", h), ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	logs := &logBuffer{}
	o.Log = slog.New(slog.NewTextHandler(logs, nil))
	d := &testServer{log: logs}
	o.Accepts = func(path string) bool {
		if path == d.panicPath.Load() {
			panic("here")
		}
		return strings.HasPrefix(path, "/mcp")
	}
	d.Server = httpserver.New(o)
	var on net.ListenConfig
	l, err := on.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.addr = l.Addr().String()
	done := make(chan error, 1)
	go func() { done <- d.Serve(tcp.WrapListener(l)) }()
	t.Cleanup(func() {
		_ = d.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("it ended with %v", err)
		}
	})
	return d
}

func markServedBy(name string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(servedBy, name)
		h.ServeHTTP(w, r)
	})
}

// echo responds with the request's body.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	_, _ = fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.Path, body)
}

// testConn is a client's connection.
type testConn struct {
	*net.TCPConn
	t  *testing.T
	in *bufio.Reader
}

func (d *testServer) dial(t *testing.T) *testConn {
	t.Helper()
	var to net.Dialer
	c, err := to.DialContext(t.Context(), "tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &testConn{TCPConn: c.(*net.TCPConn), t: t, in: bufio.NewReader(c)} //nolint:forcetypeassert // it dialled TCP
}

func (w *testConn) send(text string) {
	w.t.Helper()
	if _, err := w.Write([]byte(text)); err != nil {
		w.t.Fatal(err)
	}
}

// readResponse reads one response with its body.
func (w *testConn) readResponse() (*http.Response, string) {
	w.t.Helper()
	resp, err := http.ReadResponse(w.in, &http.Request{Method: http.MethodPost})
	if err != nil {
		w.t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp, string(body)
}

// wantResponse reads one response and compares it. by is the expected server, or "" for any.
func (w *testConn) wantResponse(by string, status int, body string) *http.Response {
	w.t.Helper()
	resp, got := w.readResponse()
	if resp.StatusCode != status || got != body || by != "" && resp.Header.Get(servedBy) != by {
		w.t.Fatalf("%d %q by %q, and not %d %q by %q", resp.StatusCode, got, resp.Header.Get(servedBy), status, body, by)
	}
	return resp
}

// wantEnd waits for the end of the connection.
func (w *testConn) wantEnd() {
	w.t.Helper()
	if rest, err := io.ReadAll(w.in); err != nil || len(rest) > 0 {
		w.t.Errorf("%q came, and %v", rest, err)
	}
}

func formatPost(path, body string, fields ...string) string {
	fields = append([]string{"Host: patchbay.test", fmt.Sprintf("Content-Length: %d", len(body))}, fields...)
	return "POST " + path + " HTTP/1.1\r\n" + strings.Join(fields, "\r\n") + "\r\n\r\n" + body
}

func withTimeout(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
