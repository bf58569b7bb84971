package httpclient_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/fasthttp/httpclient"
)

// FuzzAnswer reads a server's bytes by h1 and by net/http: both see the same, or both fail.
func FuzzAnswer(f *testing.F) {
	for i, a := range testResponses {
		if len(a.bytes) < len(long) {
			f.Add([]byte(a.bytes), uint8(i%8), a.method == http.MethodHead)
		}
	}
	f.Fuzz(func(t *testing.T, answer []byte, pieces uint8, head bool) {
		if tooManyInterims(answer) {
			return
		}
		dial := func(context.Context, string, string) (net.Conn, error) {
			return newScriptedConn(answer, int(pieces)), nil
		}
		ours := &httpclient.Transport{Dial: dial, Fallback: refusingTransport{}, MaxHeaderBytes: 64 << 10, ReadBuffer: 4 << 10}
		theirs := &http.Transport{DialContext: dial, MaxResponseHeaderBytes: 64 << 10, ReadBufferSize: 4 << 10}
		defer theirs.CloseIdleConnections()
		method := http.MethodGet
		if head {
			method = http.MethodHead
		}
		got, want := roundTripOutcome(ours, fuzzRequest(t, method)), roundTripOutcome(theirs, fuzzRequest(t, method))
		if got.Problem == "timeout" {
			t.Fatal("it hangs")
		}
		if got.StatusCode == http.StatusSwitchingProtocols {
			got.Body, want.Body = "", "" // h1 has no body for 101
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("net/http (-) and h1 (+):\n%s", diff)
		}
	})
}

func fuzzRequest(t *testing.T, method string) *http.Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, "http://example.com/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tooManyInterims reports whether a response may have more interim ones than h1 accepts.
func tooManyInterims(answer []byte) bool { return strings.Count(string(answer), "HTTP/") > 5 }

// scriptedConn is a connection that sends its response in pieces once a request was written, and ends.
type scriptedConn struct {
	asked chan struct{}
	once  sync.Once
	size  int
	mu    sync.Mutex // guards the fields below
	left  []byte
	reads int
}

func newScriptedConn(answer []byte, pieces int) *scriptedConn {
	s := &scriptedConn{asked: make(chan struct{}), left: answer, size: len(answer)}
	if pieces > 0 {
		s.size = len(answer)/pieces + 1
	}
	return s
}

func (s *scriptedConn) Write(p []byte) (int, error) {
	s.once.Do(func() { close(s.asked) })
	return len(p), nil
}

func (s *scriptedConn) Read(p []byte) (int, error) {
	<-s.asked
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if len(s.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.left[:min(s.size, len(s.left))])
	s.left = s.left[n:]
	return n, nil
}

func (s *scriptedConn) Close() error {
	s.once.Do(func() { close(s.asked) })
	return nil
}

func (*scriptedConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*scriptedConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*scriptedConn) SetDeadline(time.Time) error      { return nil }
func (*scriptedConn) SetReadDeadline(time.Time) error  { return nil }
func (*scriptedConn) SetWriteDeadline(time.Time) error { return nil }
