package serve_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/mcp/serve"
	"patchbay/internal/safe"
)

func awaitPanics(t *testing.T, k safe.Kind, n uint64) {
	t.Helper()
	for end := time.Now().Add(time.Minute); safe.Count(k) < n; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d panics are counted, %d are wanted", safe.Count(k), n)
		}
	}
}

type panickingWriter struct {
	http.ResponseWriter
	panics *atomic.Bool
}

func (w panickingWriter) Write(p []byte) (int, error) {
	if w.panics.CompareAndSwap(true, false) {
		panic("of a test")
	}
	return w.ResponseWriter.Write(p)
}

func (w panickingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// TestKeepAlive_PanicLeavesItsReply panics in the keep-alive timer during a long call.
func TestKeepAlive_PanicLeavesItsReply(t *testing.T) {
	before := safe.Count(safe.Timer)
	s := serve.New(serve.Options{StreamAfter: time.Millisecond, KeepAlive: time.Millisecond})
	b := &testBackend{answer: func(context.Context, *serve.Request) (json.RawMessage, error) {
		awaitPanics(t, safe.Timer, before+1)
		return json.RawMessage("{}"), nil
	}}
	var panics atomic.Bool
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Handle(panickingWriter{w, &panics}, r, "me", b)
	}))
	p := wrapTestServer(t, s, web, web.Client())
	panics.Store(true)
	if text := p.send(modernRequest("tools/call", `,"name":"wait"`, "")).text(); !strings.Contains(text, `"resultType":"complete"`) {
		t.Errorf("the reply is %s", text)
	}
	if n := safe.Count(safe.Timer) - before; n < 1 {
		t.Errorf("%d panics are counted", n)
	}
}

// TestStream_PanicReleasesSlot panics in the goroutine of a client's stream.
func TestStream_PanicReleasesSlot(t *testing.T) {
	var panics atomic.Bool
	panics.Store(true)
	p := newTestServer(t, &testBackend{listen: func(ctx context.Context, _ serve.Filter, _ func(string, json.RawMessage)) error {
		if panics.Load() {
			panic("of a test")
		}
		<-ctx.Done()
		return nil
	}})
	before := safe.Count(safe.Stream)
	session := p.startSession("2025-11-25", "{}")
	get := testRequest{method: http.MethodGet, header: map[string]string{"Mcp-Session-Id": session}}
	const more = 20 // than a session has streams
	for range more {
		r := p.send(get)
		if r.StatusCode != http.StatusOK {
			t.Fatalf("status %d", r.StatusCode)
		}
		_ = r.Body.Close()
		before++
		awaitPanics(t, safe.Stream, before)
	}
	panics.Store(false)
	if r := p.send(get); r.StatusCode != http.StatusOK {
		t.Errorf("the next stream: %d", r.StatusCode)
	}
	if n := safe.Count(safe.Stream); n != before {
		t.Errorf("%d panics are counted, %d are wanted", n, before)
	}
}
