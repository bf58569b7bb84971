package h1_test

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

// silent is a connection in a bubble that looks alive while it is idle.
type silent struct {
	net.Conn
	raw syscall.RawConn
}

func (s silent) SyscallConn() (syscall.RawConn, error) { return s.raw, nil }

// silence is a socket on which nothing ever comes.
func silence(t testing.TB) syscall.RawConn {
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

// bubble is a server in a bubble's clock.
type bubble struct {
	raw   syscall.RawConn
	mu    sync.Mutex // guards ended
	ended []time.Time
}

func (b *bubble) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		in := bufio.NewReader(server)
		for {
			if _, err := http.ReadRequest(in); err != nil {
				break
			}
			_, _ = io.WriteString(server, hello)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.ended = append(b.ended, time.Now())
	}()
	return silent{client, b.raw}, nil
}

func (b *bubble) wantEnded(t *testing.T, want int) {
	t.Helper()
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ended) != want {
		t.Errorf("%d connections have ended, want %d", len(b.ended), want)
	}
}

func TestIdleConnectionsAreClosedInTime(t *testing.T) {
	t.Parallel()
	raw := silence(t)
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{raw: raw}
		tr := newTransport(t)
		tr.Dial, tr.IdleTimeout, tr.MaxIdle = b.dial, time.Minute, 2
		const one, two = "http://one.example/", "http://two.example/"
		wantHello(t, tr, one)
		time.Sleep(50 * time.Second)
		wantHello(t, tr, two)
		b.wantEnded(t, 0)
		time.Sleep(11 * time.Second) // one has been idle for a minute, and two has not
		b.wantEnded(t, 1)
		time.Sleep(40 * time.Second)
		wantHello(t, tr, two) // which renews it
		time.Sleep(58 * time.Second)
		b.wantEnded(t, 1)
		time.Sleep(20 * time.Second)
		b.wantEnded(t, 2)
		wantHello(t, tr, one) // there is room again
		b.wantEnded(t, 2)
		time.Sleep(80 * time.Second)
		b.wantEnded(t, 3)
	})
}

func TestATransportWorksAfterItsIdleConnectionsWereClosed(t *testing.T) {
	t.Parallel()
	raw := silence(t)
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{raw: raw}
		tr := newTransport(t)
		tr.Dial, tr.IdleTimeout, tr.MaxIdle = b.dial, time.Minute, 1
		for i := range 3 {
			wantHello(t, tr, "http://one.example/")
			time.Sleep(20 * time.Second)
			b.wantEnded(t, i)
			tr.CloseIdleConnections()
			b.wantEnded(t, i+1)
		}
		wantHello(t, tr, "http://one.example/")
		time.Sleep(80 * time.Second)
		b.wantEnded(t, 4)
	})
}

func TestAnIdleConnectionHoldsNoBuffer(t *testing.T) {
	t.Parallel()
	const many, buffer = 64, 4 << 20
	p := newPeer(t, answering(hello))
	tr := newTransport(t)
	tr.ReadBuffer = buffer
	var open []*http.Response
	for range many {
		resp, err := tr.RoundTrip(request(t, http.MethodGet, p.url, nil))
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
	for range 3 { // a pool keeps what it has for two collections
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
