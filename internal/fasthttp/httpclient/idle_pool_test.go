package httpclient_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// silentConn is a connection in a synctest bubble that looks open and silent while it is idle.
type silentConn struct {
	net.Conn
	raw syscall.RawConn
}

func (s silentConn) SyscallConn() (syscall.RawConn, error) { return s.raw, nil }

// silentSocket is a socket that never receives anything.
func silentSocket(t testing.TB) syscall.RawConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		_ = l.Close()
	})
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// bubbleServer is a server in a synctest bubble.
type bubbleServer struct {
	raw   syscall.RawConn
	mu    sync.Mutex // guards ended
	ended []time.Time
}

func (b *bubbleServer) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		in := bufio.NewReader(server)
		for {
			if _, err := http.ReadRequest(in); err != nil {
				break
			}
			_, _ = io.WriteString(server, helloResponse)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.ended = append(b.ended, time.Now())
	}()
	return silentConn{client, b.raw}, nil
}

func (b *bubbleServer) wantClosed(t *testing.T, want int) {
	t.Helper()
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ended) != want {
		t.Errorf("%d connections have ended, want %d", len(b.ended), want)
	}
}

func TestIdlePool_ClosesAfterTimeout(t *testing.T) {
	t.Parallel()
	raw := silentSocket(t)
	synctest.Test(t, func(t *testing.T) {
		b := &bubbleServer{raw: raw}
		tr := newTransport(t)
		tr.Dial, tr.IdleTimeout, tr.MaxIdle = b.dial, time.Minute, 2
		const one, two = "http://one.example/", "http://two.example/"
		wantHello(t, tr, one)
		time.Sleep(50 * time.Second)
		wantHello(t, tr, two)
		b.wantClosed(t, 0)
		time.Sleep(11 * time.Second) // one was idle for a minute, two was not
		b.wantClosed(t, 1)
		time.Sleep(40 * time.Second)
		wantHello(t, tr, two) // renews it
		time.Sleep(58 * time.Second)
		b.wantClosed(t, 1)
		time.Sleep(20 * time.Second)
		b.wantClosed(t, 2)
		wantHello(t, tr, one) // there is room again
		b.wantClosed(t, 2)
		time.Sleep(80 * time.Second)
		b.wantClosed(t, 3)
	})
}

func TestTransport_WorksAfterCloseIdleConnections(t *testing.T) {
	t.Parallel()
	raw := silentSocket(t)
	synctest.Test(t, func(t *testing.T) {
		b := &bubbleServer{raw: raw}
		tr := newTransport(t)
		tr.Dial, tr.IdleTimeout, tr.MaxIdle = b.dial, time.Minute, 1
		for i := range 3 {
			wantHello(t, tr, "http://one.example/")
			time.Sleep(20 * time.Second)
			b.wantClosed(t, i)
			tr.CloseIdleConnections()
			b.wantClosed(t, i+1)
		}
		wantHello(t, tr, "http://one.example/")
		time.Sleep(80 * time.Second)
		b.wantClosed(t, 4)
	})
}

func TestIdleConnection_HoldsNoBuffer(t *testing.T) {
	t.Parallel()
	const many, buffer = 64, 4 << 20
	p := newPeer(t, respondWith(helloResponse))
	tr := newTransport(t)
	tr.ReadBuffer = buffer
	var open []*http.Response
	for range many {
		resp, err := tr.RoundTrip(newRequest(t, http.MethodGet, p.url, nil))
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, resp)
	}
	for i, resp := range open {
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "hello" {
			t.Errorf("%q, %v", body, err)
		}
		_ = resp.Body.Close()
		open[i] = nil
	}
	for range 3 { // a sync.Pool keeps its objects for two collections
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > many*buffer/4 {
		t.Errorf("%d MiB live beside idle connections with buffers of %d", m.HeapAlloc>>20, buffer>>20)
	}
	wantHello(t, tr, p.url)
	p.wantCounts(t, many, many+1)
}
