package httpserver_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/fasthttp/httpserver"
	"patchbay/internal/safe"
)

// panickingListener accepts a first connection whose RemoteAddr panics.
type panickingListener struct {
	net.Listener
	accepted atomic.Int32
}

func (l *panickingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil && l.accepted.Add(1) == 1 {
		return panickingConn{c}, nil
	}
	return c, err
}

type panickingConn struct{ net.Conn }

func (panickingConn) RemoteAddr() net.Addr { panic("of a test") }

// The panic occurs in the goroutine that accepts all connections.
func TestAccept_PanicEndsThatConnectionAlone(t *testing.T) {
	s := httpserver.New(httpserver.Options{
		Handler: http.HandlerFunc(echo), Accepts: func(string) bool { return true }, Fallback: &http.Server{ReadHeaderTimeout: time.Minute},
	})
	var on net.ListenConfig
	l, err := on.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(&panickingListener{Listener: l}) }()
	before := safe.Count(safe.Connection)
	d := &testServer{Server: s, addr: l.Addr().String()}
	if n, err := d.dial(t).Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("%d bytes, error = %v", n, err)
	}
	w := d.dial(t)
	w.send(formatPost("/mcp", "x"))
	w.wantResponse("", http.StatusOK, "POST /mcp x")
	if n := safe.Count(safe.Connection) - before; n < 1 {
		t.Errorf("%d panics are counted", n)
	}
	if err := s.Shutdown(withTimeout(t)); err != nil { // the failed connection is not counted any more
		t.Errorf("shutdown: %v", err)
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("it ended with %v", err)
	}
}
