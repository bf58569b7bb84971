package framing_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/framing"
	"patchbay/internal/safe"
)

// panickingConn panics in the second Read.
type panickingConn struct {
	net.Conn
	reads  atomic.Int32
	panics *atomic.Bool
}

func (c *panickingConn) Read(p []byte) (int, error) {
	if c.reads.Add(1) > 1 && c.panics.Load() {
		panic("of a test")
	}
	return c.Conn.Read(p)
}

type panickingListener struct {
	net.Listener
	panics atomic.Bool
}

func (l *panickingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &panickingConn{Conn: c, panics: &l.panics}, err
}

// The Read panics in a goroutine of net/http while a handler runs.
func TestRead_PanicEndsItsConnectionAlone(t *testing.T) {
	var on net.ListenConfig
	inner, err := on.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &panickingListener{Listener: inner}
	s := &http.Server{
		ReadHeaderTimeout: time.Minute, DisableGeneralOptionsHandler: true,
		Handler: framing.Refuse(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if l.panics.Load() {
				<-r.Context().Done() // net/http cancels it after a failed read
			}
			_, _ = io.WriteString(w, "well")
		})),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			ctx, _ = framing.ConnContext(ctx, c)
			return ctx
		},
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(framing.Listen(l)) }()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	before := safe.Count(safe.Connection)
	const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	l.panics.Store(true)
	exchange(t, inner.Addr().String(), request)
	l.panics.Store(false)
	if n := safe.Count(safe.Connection) - before; n == 0 {
		t.Error("no panic is counted")
	}
	if got := exchange(t, inner.Addr().String(), request); len(got) != 1 || got[0] != "200 well" {
		t.Errorf("the next connection is answered %q", got)
	}
}
