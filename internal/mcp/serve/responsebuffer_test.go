package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patchbay/internal/mcp/serve"
)

// slowConn is the server's end of a connection to a slow client.
type slowConn struct {
	*httptest.ResponseRecorder // for the header
	net.Conn
	failed error
}

func (l *slowConn) Header() http.Header { return l.ResponseRecorder.Header() }

func (l *slowConn) Write(p []byte) (n int, err error) {
	if n, err = l.Conn.Write(p); err != nil {
		l.failed = err
	}
	return n, err
}

// lossBackend is a backend with large responses that records the lost ones.
type lossBackend struct {
	testBackend
	mu   sync.Mutex // guards lost
	lost []string
}

func (w *lossBackend) ResponseUndelivered(r *serve.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost = append(w.lost, string(r.CallID[:4]))
}

func newLossBackend(size int) *lossBackend {
	long := json.RawMessage(`{"data":"` + strings.Repeat("x", size) + `"}`)
	return &lossBackend{testBackend: testBackend{answer: func(_ context.Context, r *serve.Request) (json.RawMessage, error) {
		copy(r.CallID[:], r.Name)
		return long, nil
	}}}
}

// serveCall serves a tool call of the caller. The response is read from client; served reports that the handler
// has returned.
func serveCall(s *serve.Server, b serve.Backend, caller, tool string) (client net.Conn, served <-chan *slowConn) {
	client, ours := net.Pipe()
	a := modernRequest("tools/call", `,"name":"`+tool+`"`, "")
	r := httptest.NewRequest(http.MethodPost, "http://localhost/", strings.NewReader(a.body))
	r.Header.Set("Content-Type", "application/json")
	for name, value := range a.header {
		r.Header.Set(name, value)
	}
	l, done := &slowConn{ResponseRecorder: httptest.NewRecorder(), Conn: ours}, make(chan *slowConn, 1)
	go func() {
		s.Handle(l, r, caller, b)
		_ = ours.Close()
		done <- l
	}()
	return client, done
}

func TestResponseBuffer_SlowReaderIsAborted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pause time.Duration // between two reads of 64 KiB
		whole bool
	}{
		"as fast as it must be": {400 * time.Millisecond, true}, // 160 KiB/s
		"a drop now and then":   {2 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newLossBackend(8 << 20)
				client, served := serveCall(serve.New(serve.Options{Log: slog.New(slog.DiscardHandler)}), b, "me", "long")
				gone := make(chan struct{})
				defer func() { <-gone }()
				go func() {
					defer close(gone)
					for buffer := make([]byte, 64<<10); ; time.Sleep(tc.pause) {
						if _, err := io.ReadFull(client, buffer); err != nil {
							return
						}
					}
				}()
				began := time.Now()
				l := <-served
				if whole := l.failed == nil; whole != tc.whole || len(b.lost) == 0 != tc.whole {
					t.Errorf("failed: %v, lost: %v", l.failed, b.lost)
				}
				if took := time.Since(began); took > 2*time.Minute {
					t.Errorf("it was held for %s", took)
				}
			})
		})
	}
}

func TestResponseBuffer_DropsUnreadResponses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newLossBackend(1 << 20)
		s := serve.New(serve.Options{Log: slog.New(slog.DiscardHandler), MaxUnreadPerKey: 5 << 19, MaxUnreadBytes: 4 << 20, BudgetKey: func(caller string) string { return caller[:1] }})
		var clients []net.Conn
		var served []<-chan *slowConn
		add := func(caller, tool string) {
			c, done := serveCall(s, b, caller, tool)
			clients, served = append(clients, c), append(served, done)
			synctest.Wait()
			time.Sleep(time.Second)
		}
		givenUp := func(i int) {
			t.Helper()
			if l := <-served[i]; !errors.Is(l.failed, os.ErrDeadlineExceeded) {
				t.Errorf("answer %d ended with %v", i, l.failed)
			}
		}
		add("a at one address", "a1__")
		add("a at another", "a2__")
		add("a at one address", "a3__") // above the caller's bound
		givenUp(0)
		add("b", "b1__")
		add("c", "c1__") // above the common bound: a has the most bytes
		givenUp(1)
		for _, i := range []int{2, 3, 4} { // the others are read
			text, err := io.ReadAll(clients[i])
			if err != nil || len(text) < 1<<20 || (<-served[i]).failed != nil {
				t.Errorf("answer %d: %d bytes, %v", i, len(text), err)
			}
		}
		if lost := strings.Join(b.lost, " "); lost != "a1__ a2__" {
			t.Errorf("lost: %s", lost)
		}
	})
}

func TestResponseBuffer_IgnoresSharedList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newLossBackend(1 << 20)
		s := serve.New(serve.Options{Log: slog.New(slog.DiscardHandler), MaxUnreadPerKey: 3 << 19})
		client, served := serveCall(s, b, "me", "mine")
		synctest.Wait()
		d := &testBackend{prepared: []byte(`{"tools":[],"resultType":"complete","more":"` + strings.Repeat("x", 1<<20) + `"}`)}
		if w := serveOnce(s, d, modernRequest("tools/list", "", "")); w.Body.Len() < 1<<20 {
			t.Errorf("the list has %d bytes", w.Body.Len())
		}
		if text, err := io.ReadAll(client); err != nil || len(text) < 1<<20 || (<-served).failed != nil {
			t.Errorf("the answer: %d bytes, %v", len(text), err)
		}
	})
}
