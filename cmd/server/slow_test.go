package main

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener of connections in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (pipes) Close() error   { return nil }
func (pipes) Addr() net.Addr { return &net.TCPAddr{} }

// met is a client of the public server, in a bubble. What it says is in the server's hands when say returns.
func met(t *testing.T) (client net.Conn, say func(string)) {
	t.Helper()
	public := newStandardServer(deadlines(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusNoContent)
	})), slog.New(slog.DiscardHandler))
	public.ConnContext = nil // it is of connections that are sockets
	listener := make(pipes, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = public.Serve(listener)
	}()
	client, server := net.Pipe()
	listener <- server
	t.Cleanup(func() {
		close(listener)
		_, _ = client.Close(), public.Close()
		<-done
	})
	return client, func(text string) {
		if _, err := io.WriteString(client, text); err != nil {
			t.Errorf("%q is not taken: %v", text, err)
		}
	}
}

// closedAfter is how long the server waits until it closes the connection.
func closedAfter(t *testing.T, client net.Conn) time.Duration {
	t.Helper()
	from := time.Now()
	if _, err := io.Copy(io.Discard, client); err != nil && !errors.Is(err, io.EOF) {
		t.Errorf("it does not end as a connection does: %v", err)
	}
	return time.Since(from)
}

func TestAHeadThatDripsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, say := met(t)
		say("GET / HTTP/1.1\r\nHost: patchbay.example.com\r\n")
		for range 4 { // a line every two seconds puts nothing off
			time.Sleep(2 * time.Second)
			say("X-Slow: yes\r\n")
		}
		if left := closedAfter(t, client); left != readHeaderTimeout-8*time.Second {
			t.Errorf("it is closed %s later", left)
		}
	})
}

func TestABodyThatStallsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, say := met(t)
		say("POST / HTTP/1.1\r\nHost: patchbay.example.com\r\nContent-Length: 100\r\n\r\n")
		say("a piece")
		if left := closedAfter(t, client); left != stallLimit {
			t.Errorf("it is closed %s later", left)
		}
	})
}

func TestAConnectionThatAsksForNothingIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, say := met(t)
		go say("GET / HTTP/1.1\r\nHost: patchbay.example.com\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil || resp.StatusCode != http.StatusNoContent {
			t.Fatal(resp, err)
		}
		_ = resp.Body.Close()
		if left := closedAfter(t, client); left != idleTimeout {
			t.Errorf("it is closed %s later", left)
		}
	})
}

func TestAHeadThatIsTooLongIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, _ := met(t)
		go func() {
			_, _ = io.WriteString(client, "GET / HTTP/1.1\r\nHost: patchbay.example.com\r\nX-Long: "+strings.Repeat("x", 100<<10)+"\r\n\r\n")
		}()
		resp, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil || resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Fatal(resp, err)
		}
		_ = resp.Body.Close()
		_ = closedAfter(t, client)
	})
}
