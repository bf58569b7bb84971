package fastpath_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/fastpath"
	"patchbay/internal/safe"
)

// namelessListener accepts a first connection whose address panics.
type namelessListener struct {
	net.Listener
	accepted atomic.Int32
}

func (l *namelessListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil && l.accepted.Add(1) == 1 {
		return namelessConn{c}, nil
	}
	return c, err
}

type namelessConn struct{ net.Conn }

func (namelessConn) RemoteAddr() net.Addr { panic("of a test") }

// TestAccept_PanicEndsThatConnectionAlone has the beginning of a connection panic in the goroutine that accepts all.
func TestAccept_PanicEndsThatConnectionAlone(t *testing.T) {
	s := fastpath.New(fastpath.Options{
		Handler: http.HandlerFunc(echo), Takes: func(string) bool { return true }, Rest: &http.Server{ReadHeaderTimeout: time.Minute},
	})
	var on net.ListenConfig
	l, err := on.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(&namelessListener{Listener: l}) }()
	before := safe.Count(safe.Connection)
	d := &door{Server: s, addr: l.Addr().String()}
	if n, err := d.dial(t).Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("%d bytes, error = %v", n, err)
	}
	w := d.dial(t)
	w.send(post("/mcp", "x"))
	w.wantAnswer("", http.StatusOK, "POST /mcp x")
	if n := safe.Count(safe.Connection) - before; n != 1 {
		t.Errorf("%d panics are counted", n)
	}
	if err := s.Shutdown(within(t)); err != nil { // no connection counts that has ended
		t.Errorf("shutdown: %v", err)
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("it ended with %v", err)
	}
}
