package mcp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/safe"
	"patchbay/internal/testing/paniclog"
)

// The goroutine that reads a program's output panics.
func TestProgramReader_PanicEndsItsProcessAlone(t *testing.T) {
	for mode, era := range eras {
		t.Run(string(era), func(t *testing.T) {
			target, neighbour := newProgramTarget(t, mode), newProgramTarget(t, mode)
			markPeer(t, target)
			s, other := dial(t, target), dial(t, neighbour)
			before, process := safe.Count(safe.Program), findProcess(t, other)
			_, err := s.Call(t.Context(), mcp.Call{Name: "tells", Progress: func(mcp.ProgressNotification) { panic("of a test") }})
			if _, ok := errors.AsType[*mcp.Error](err); !ok {
				t.Errorf("error = %v", err)
			}
			if findProcess(t, s) == "" {
				t.Error("the next call is not answered")
			}
			if findProcess(t, other) != process {
				t.Error("the other program was started anew")
			}
			for end := time.Now().Add(patience); safe.Count(safe.Program) == before && time.Now().Before(end); {
				runtime.Gosched() // waiting requests continue before the panic is counted
			}
			if n := safe.Count(safe.Program) - before; n < 1 {
				t.Errorf("%d panics are counted", n)
			}
		})
	}
}

// The goroutine that reads the stream of a handshake-era server panics. All watchers of the session wait for that stream.
func TestServerStream_PanicOpensItAnew(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	const updated = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}`
	up := mcptest.Start(t, mcptest.Script{SessionID: "s", On: map[string]mcptest.Handler{
		"GET": newAnnouncingHandler(updated),
		"resources/subscribe": mcptest.Answer("application/json", func(c mcptest.Call) string {
			return mcptest.Result(c, "{}")
		}),
	}})
	s := dial(t, mcp.Target{URL: up.URL, Era: mcp.EraHandshake})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	heard := 0
	err := s.Watch(ctx, []string{"file:///a"}, func(mcp.Message) {
		if heard++; heard == 1 {
			panic("a secret")
		}
		cancel()
	})
	if err != nil || heard < 2 {
		t.Errorf("heard %d updates, error = %v", heard, err)
	}
	panics.Want(t, safe.Background, "TestServerStream_PanicOpensItAnew")
}

// The goroutine that reads the stream of HTTP+SSE panics.
func TestSSEReader_PanicEndsItsSessionAlone(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	newSession := func() *mcp.Session {
		return dial(t, mcp.Target{URL: (&legacyServer{notes: true}).start(t).URL, Transport: mcp.SSE, Timeout: patience})
	}
	s, other := newSession(), newSession()
	_, err := s.Call(t.Context(), mcp.Call{Name: "greet", Message: func(mcp.Message) { panic("a secret") }})
	if failure := asError(err); failure == nil || strings.Contains(err.Error(), "a secret") {
		t.Errorf("error = %v", err)
	}
	for name, session := range map[string]*mcp.Session{"the same session": s, "another session": other} {
		noted := false
		if _, err := session.Call(t.Context(), mcp.Call{Name: "greet", Message: func(mcp.Message) { noted = true }}); err != nil || !noted {
			t.Errorf("%s: error = %v, a note came: %t", name, err, noted)
		}
	}
	panics.Want(t, safe.Upstream, "TestSSEReader_PanicEndsItsSessionAlone")
}

// panickingStream is the body of an event stream that panics after some reads.
type panickingStream struct {
	io.ReadCloser
	reads  atomic.Int32
	closed chan struct{}
}

func (s *panickingStream) Read(p []byte) (int, error) {
	if s.reads.Add(1) > 1 {
		panic("a secret")
	}
	return s.ReadCloser.Read(p)
}

func (s *panickingStream) Close() error {
	close(s.closed)
	return s.ReadCloser.Close()
}

// The body of the stream of HTTP+SSE panics: its connection is closed at once, not when the session is.
func TestSSEReader_PanicClosesItsStream(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	old := (&legacyServer{}).start(t)
	c := newClient(t)
	next, body := c.HTTP.Transport, &panickingStream{closed: make(chan struct{})}
	c.HTTP.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err == nil && r.Method == http.MethodGet {
			body.ReadCloser, resp.Body = resp.Body, body
		}
		return resp, err
	})
	if _, err := c.Dial(t.Context(), mcp.Target{URL: old.URL, Transport: mcp.SSE, Timeout: patience}); asError(err) == nil {
		t.Errorf("error = %v", err)
	}
	<-body.closed
	panics.Want(t, safe.Upstream, "(*panickingStream).Read")
}
