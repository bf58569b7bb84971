package mcp_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/mcp"
)

const atLength = 5 << 20

// newGiantServer has tools with long responses in pieces: as JSON ("json"), with Content-Length ("announced")
// or as an event ("event"); "small" is short. pace is called before each piece.
func newGiantServer(t *testing.T, pace func(w http.ResponseWriter, r *http.Request)) (url string) {
	t.Helper()
	piece := bytes.Repeat([]byte("x"), 64<<10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		id, name := textBetween(body, `"id":`, ","), textBetween(body, `"params":{"name":"`, `"`)
		switch name {
		case "small":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, id)
			return
		case "":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`, id)
			return
		}
		begin, end := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"x":"`, id), `"}}`
		switch name {
		case "event":
			w.Header().Set("Content-Type", "text/event-stream")
			begin, end = "data: "+begin, end+"\n\n"
		case "announced":
			w.Header().Set("Content-Length", fmt.Sprint(len(begin)+atLength+len(end)))
		}
		_, _ = io.WriteString(w, begin)
		for range atLength / len(piece) {
			pace(w, r)
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
		_, _ = io.WriteString(w, end)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

func textBetween(b []byte, before, after string) string {
	_, rest, _ := bytes.Cut(b, []byte(before))
	found, _, _ := bytes.Cut(rest, []byte(after))
	return string(found)
}

func dialLimited(t *testing.T, url string, room *mcp.MemoryLimit) *mcp.Session {
	t.Helper()
	c := newClient(t)
	c.MemoryLimit = room
	s, err := c.Dial(t.Context(), mcp.Target{URL: url, Era: mcp.EraModern, Timeout: 10 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(t.Context()) })
	return s
}

// 40 concurrent responses of 5 MiB take more than 150 MiB without a limit.
func TestMemoryLimit_GiantResponsesAreBounded(t *testing.T) { // not parallel: it measures the heap
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	var turn atomic.Int64
	var mu sync.Mutex
	var peak uint64 // guarded by mu
	url := newGiantServer(t, func(http.ResponseWriter, *http.Request) {
		if turn.Add(1)%200 != 0 {
			return
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		mu.Lock()
		defer mu.Unlock()
		peak = max(peak, m.HeapAlloc)
	})
	s := dialLimited(t, url, &mcp.MemoryLimit{Total: 16 << 20, PerKey: 8 << 20, MaxWait: 5 * time.Minute})
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var calls sync.WaitGroup
	for i := range 40 {
		calls.Go(func() {
			result, err := s.Call(t.Context(), mcp.Call{Name: []string{"json", "announced", "event"}[i%3], MemoryKey: [16]byte{1, byte(i % 16)}})
			if err != nil || len(result.Raw) < atLength {
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	calls.Wait()
	const most = 120 << 20 // 16 MiB, plus buffers left by growing, waiting responses (256 KiB each) and uncollected garbage
	if grown := int64(peak) - int64(before.HeapAlloc); grown > most {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	} else {
		t.Logf("the heap grew by %d MiB", grown>>20)
	}
}

// The memory is filled with responses that do not progress.
func TestMemoryLimit_ShortResponsesDoNotWait(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"json", "announced", "event"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var pieces atomic.Int64
			release, held := make(chan struct{}), make(chan struct{})
			url := newGiantServer(t, func(w http.ResponseWriter, r *http.Request) {
				if pieces.Add(1) == 16 { // of the first response, which reserves its memory now
					_ = http.NewResponseController(w).Flush()
					close(held)
					select {
					case <-release:
					case <-r.Context().Done():
					}
				}
			})
			room := &mcp.MemoryLimit{Total: 16 << 20, PerKey: 8 << 20, MaxWait: 50 * time.Millisecond}
			s := dialLimited(t, url, room)
			call := func(name string, who byte) error {
				_, err := s.Call(t.Context(), mcp.Call{Name: name, MemoryKey: [16]byte{who}})
				return err
			}
			first := make(chan error, 1)
			go func() { first <- call(name, 1) }()
			<-held
			for tick := time.Tick(time.Millisecond); !room.InUse(); { // sent, but not read yet
				select {
				case <-tick:
				case err := <-first:
					t.Fatalf("the first one ended without room: %v", err)
				}
			}
			if err := call(name, 1); err == nil || asError(err).Reason != mcp.ReasonMemoryLimit {
				t.Errorf("another one of the same: %v", err)
			}
			if err := call("small", 1); err != nil {
				t.Errorf("a short one: %v", err)
			}
			if err := call(name, 2); err != nil {
				t.Errorf("somebody else's: %v", err)
			}
			close(release)
			if err := <-first; err != nil {
				t.Errorf("the first one: %v", err)
			}
			if err := call(name, 1); err != nil {
				t.Errorf("the next one: %v", err)
			}
		})
	}
}
