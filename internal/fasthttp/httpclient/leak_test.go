package httpclient_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// countingContext counts the functions that wait for its end.
type countingContext struct {
	context.Context
	done    chan struct{}
	waiting atomic.Int64
}

func (w *countingContext) Done() <-chan struct{} { return w.done }

func (w *countingContext) AfterFunc(func()) func() bool {
	w.waiting.Add(1)
	return func() bool {
		w.waiting.Add(-1)
		return true
	}
}

// However an exchange ends, it leaves no connection, no AfterFunc and no goroutine.
func TestRoundTrip_LeaksNothing(t *testing.T) { // not parallel: it counts goroutines
	tr, connections := newTransport(t), new(bufferPool)
	tr.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == "nowhere.example:80" {
			return nil, io.ErrNoProgress
		}
		return connections.dial(ctx, network, address)
	}
	for _, a := range testResponses {
		p := newPeer(t, a.serve)
		for _, read := range []int64{0, 1, 1 << 20} {
			for _, last := range []bool{false, true} {
				ctx := &countingContext{Context: context.Background(), done: make(chan struct{})}
				resp, err := tr.RoundTrip(a.request(t, p.url).WithContext(ctx))
				if err == nil {
					_, _ = io.CopyN(io.Discard, resp.Body, read)
					_ = resp.Body.Close()
				}
				if last {
					_, _ = tr.RoundTrip(a.request(t, "http://nowhere.example/").WithContext(ctx))
				}
				if n := ctx.waiting.Load(); n != 0 {
					t.Errorf("%s: %d still wait for the context's end", a.name, n)
				}
			}
		}
	}
	tr.CloseIdleConnections()
	if open := connections.open.Load(); open != 0 || connections.made.Load() == 0 {
		t.Errorf("%d of %d connections are open", open, connections.made.Load())
	}
	stacks := make([]byte, 1<<20)
	if stacks = stacks[:runtime.Stack(stacks, true)]; strings.Contains(string(stacks), "patchbay/internal/fasthttp/httpclient.") {
		t.Errorf("goroutines of h1:\n%s", stacks)
	}
}

// A body that was read to its end need not be closed.
func TestUnclosedBody_LeaksNothingAfterEOF(t *testing.T) {
	t.Parallel()
	p := newPeer(t, respondWith(helloResponse))
	tr, connections := newTransport(t), new(bufferPool)
	tr.Dial = connections.dial
	ctx := &countingContext{Context: context.Background(), done: make(chan struct{})}
	for range 10 {
		resp, err := tr.RoundTrip(newRequest(t, http.MethodGet, p.url, nil).WithContext(ctx))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(resp.Body); err != nil {
			t.Fatal(err)
		}
	}
	if n := ctx.waiting.Load(); n != 0 || connections.made.Load() != 1 {
		t.Errorf("%d still wait for the context's end, %d connections were made", n, connections.made.Load())
	}
	tr.CloseIdleConnections()
	if open := connections.open.Load(); open != 0 {
		t.Errorf("%d connections are open", open)
	}
}

func TestInvalidRequest_LeaksNothing(t *testing.T) {
	t.Parallel()
	tr, connections := newTransport(t), new(bufferPool)
	tr.Dial = connections.dial
	p := newPeer(t, respondWith(helloResponse))
	ctx := &countingContext{Context: context.Background(), done: make(chan struct{})}
	r := newRequest(t, http.MethodGet, p.url, nil).WithContext(ctx)
	r.Header["X-A"] = []string{"a\r\nb"}
	if _, err := tr.RoundTrip(r); err == nil || errors.Is(err, errNotOurs) || ctx.waiting.Load() != 0 || connections.made.Load() != 0 {
		t.Errorf("%v, %d wait, %d connections", err, ctx.waiting.Load(), connections.made.Load())
	}
}
