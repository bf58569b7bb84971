package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"patchbay/internal/config"
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
	return metIn(t, config.HTTPStandard)
}

// metIn is met with a mode of HTTP. The fast path serves /mcp. No body is read at /unread.
func metIn(t *testing.T, mode config.HTTPMode) (client net.Conn, say func(string)) {
	t.Helper()
	public := newPublicServer(publicOptions{
		mode: mode, log: slog.New(slog.DiscardHandler), agentsPath: func(path string) bool { return path == "/mcp" },
		handler: deadlines(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/unread" {
				http.Error(w, "no", http.StatusNotFound)
				return
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(http.StatusNoContent)
		})),
	})
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

// TestSlowBody_HasADeadlineAsAWhole sends a byte every 20 s, which puts off no deadline of the whole body.
func TestSlowBody_HasADeadlineAsAWhole(t *testing.T) {
	t.Parallel()
	const declared = "POST %s HTTP/1.1\r\nHost: patchbay.example.com\r\nContent-Length: %d\r\n\r\n"
	const chunked = "POST %s HTTP/1.1\r\nHost: patchbay.example.com\r\nTransfer-Encoding: chunked\r\n\r\n"
	const piece, most = "1\r\nx\r\n", stallLimit + maxTimedBody>>17*time.Second
	for _, mode := range []config.HTTPMode{config.HTTPFast, config.HTTPStandard} {
		for name, tc := range map[string]struct {
			head, piece string
			want        time.Duration
		}{
			"short":            {fmt.Sprintf(declared, "/login", 1000), "x", stallLimit},
			"4 MB":             {fmt.Sprintf(declared, "/login", 4_000_000), "x", stallLimit + 30*time.Second},
			"endless":          {fmt.Sprintf(declared, "/login", int64(1)<<60), "x", most},
			"chunked":          {fmt.Sprintf(chunked, "/login"), piece, most},
			"not read":         {fmt.Sprintf(declared, "/unread", 200_000), "x", stallLimit + time.Second},
			"chunked unread":   {fmt.Sprintf(chunked, "/unread"), piece, most},
			"of the fast path": {fmt.Sprintf(declared, "/mcp", 400_000), "x", stallLimit + 3*time.Second},
		} {
			t.Run(fmt.Sprint(mode, " ", name), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					client, say := metIn(t, mode)
					say(tc.head)
					from := time.Now()
					closed := make(chan time.Duration)
					go func() {
						_, _ = io.Copy(io.Discard, client)
						closed <- time.Since(from)
					}()
					for {
						select {
						case after := <-closed:
							if after < tc.want || after > tc.want+time.Second {
								t.Errorf("it is closed after %s, want %s", after, tc.want)
							}
							return
						case <-time.After(20 * time.Second):
							if time.Since(from) > time.Hour {
								t.Fatal("it is open after an hour")
							}
							_, _ = io.WriteString(client, tc.piece)
						}
					}
				})
			})
		}
	}
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
