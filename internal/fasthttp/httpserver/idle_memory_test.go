package httpserver

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// Many connections are idle, so their memory counts.
func TestIdleConn_FreesBuffersOfLongResponses(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("long "), 100_000)
	handlers := map[string]http.HandlerFunc{
		"of no known length": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(long) },
		"in pieces": func(w http.ResponseWriter, _ *http.Request) {
			for piece := long; len(piece) > 0; piece = piece[1000:] {
				_, _ = w.Write(piece[:1000])
			}
		},
		"held": func(w http.ResponseWriter, _ *http.Request) {
			r := w.(*responseWriter) //nolint:forcetypeassert // it is one
			r.Cork()
			for piece := long; len(piece) > 0; piece = piece[1000:] {
				_, _ = w.Write(piece[:1000])
			}
			_ = r.Uncork()
		},
	}
	for what, h := range handlers {
		s := New(Options{
			Handler: h, Accepts: func(string) bool { return true }, IdleTimeout: time.Hour, Fallback: &http.Server{ReadHeaderTimeout: time.Minute},
		})
		var on net.ListenConfig
		l, err := on.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- s.Serve(l) }()
		var to net.Dialer
		client, err := to.DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(client, formatPlainHead()+"{}")
		resp, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(body, long) {
			t.Errorf("%s: %d bytes came, %v", what, len(body), err)
		}
		_ = client.Close()
		var kept []*conn
		for i := range s.shards {
			kept = append(kept, s.shards[i].allConns()...)
		}
		_ = s.Close()
		<-done
		<-s.allDone // its goroutine has ended
		for _, c := range kept {
			b := c.buffers
			if n := cap(b.head) + cap(b.copied) + cap(b.pending); n > 3*maxReusedBuffer {
				t.Errorf("%s: it keeps %d bytes", what, n)
			}
			for _, piece := range b.out[:cap(b.out)] {
				if piece != nil {
					t.Errorf("%s: it keeps a piece of %d bytes", what, len(piece))
				}
			}
		}
	}
}
