package fastpath_test

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

	"patchbay/internal/fastpath"
	"patchbay/internal/socket"
)

// door is a server, and what it logs.
type door struct {
	*fastpath.Server
	addr  string
	log   *logged
	takes atomic.Value // the path at which to panic
}

// logged is what was logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// served is the answers' field that tells who served.
const served = "X-Served-By"

// open serves h: what is plain and below /mcp by the fast path, the rest by net/http.
func open(t *testing.T, o fastpath.Options) *door {
	t.Helper()
	h := o.Handler
	o.Handler = mark("fast", h)
	o.Rest = &http.Server{Handler: mark("net/http", h), ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	log := &logged{}
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	d := &door{log: log}
	o.Takes = func(path string) bool {
		if path == d.takes.Load() {
			panic("here")
		}
		return strings.HasPrefix(path, "/mcp")
	}
	d.Server = fastpath.New(o)
	var on net.ListenConfig
	l, err := on.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.addr = l.Addr().String()
	done := make(chan error, 1)
	go func() { done <- d.Serve(socket.Listener(l)) }()
	t.Cleanup(func() {
		_ = d.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("it ended with %v", err)
		}
	})
	return d
}

func mark(by string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(served, by)
		h.ServeHTTP(w, r)
	})
}

// echo answers with what was sent.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	_, _ = fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.Path, body)
}

// wire is a client's connection.
type wire struct {
	*net.TCPConn
	t  *testing.T
	in *bufio.Reader
}

func (d *door) dial(t *testing.T) *wire {
	t.Helper()
	var to net.Dialer
	c, err := to.DialContext(t.Context(), "tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &wire{TCPConn: c.(*net.TCPConn), t: t, in: bufio.NewReader(c)} //nolint:forcetypeassert // it dialled TCP
}

func (w *wire) send(text string) {
	w.t.Helper()
	if _, err := w.Write([]byte(text)); err != nil {
		w.t.Fatal(err)
	}
}

// answered reads one answer with its body.
func (w *wire) answered() (*http.Response, string) {
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

// wantAnswer reads one answer and holds it against what it should be, and who should have given it.
func (w *wire) wantAnswer(by string, status int, body string) *http.Response {
	w.t.Helper()
	resp, got := w.answered()
	if resp.StatusCode != status || got != body || by != "" && resp.Header.Get(served) != by {
		w.t.Fatalf("%d %q by %q, and not %d %q by %q", resp.StatusCode, got, resp.Header.Get(served), status, body, by)
	}
	return resp
}

// wantEnd waits for the end of the connection.
func (w *wire) wantEnd() {
	w.t.Helper()
	if rest, err := io.ReadAll(w.in); err != nil || len(rest) > 0 {
		w.t.Errorf("%q came, and %v", rest, err)
	}
}

func post(path, body string, fields ...string) string {
	fields = append([]string{"Host: patchbay.test", fmt.Sprintf("Content-Length: %d", len(body))}, fields...)
	return "POST " + path + " HTTP/1.1\r\n" + strings.Join(fields, "\r\n") + "\r\n\r\n" + body
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
