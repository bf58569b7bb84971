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

// newSlowClient returns a client of the public server in a synctest bubble. say returns when the server has
// read the text.
func newSlowClient(t *testing.T) (client net.Conn, say func(string)) {
	t.Helper()
	return newSlowClientIn(t, config.HTTPStandard)
}

// newSlowClientIn is newSlowClient with a mode of HTTP. The fast path serves /mcp. /unread reads no body.
func newSlowClientIn(t *testing.T, mode config.HTTPMode) (client net.Conn, say func(string)) {
	t.Helper()
	public := newPublicServer(publicOptions{
		mode: mode, log: slog.New(slog.DiscardHandler), isAgentsPath: func(path string) bool { return path == "/mcp" },
		handler: withDeadlines(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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

// closedAfter is the time until the server closes the connection.
func closedAfter(t *testing.T, client net.Conn) time.Duration {
	t.Helper()
	from := time.Now()
	if _, err := io.Copy(io.Discard, client); err != nil && !errors.Is(err, io.EOF) {
		t.Errorf("it does not end as a connection does: %v", err)
	}
	return time.Since(from)
}

func TestSlowHead_ClosedAfterTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, say := newSlowClient(t)
		say("GET / HTTP/1.1\r\nHost: patchbay.example.com\r\n")
		for range 4 { // more lines do not extend the deadline
			time.Sleep(2 * time.Second)
			say("X-Slow: yes\r\n")
		}
		if left := closedAfter(t, client); left != readHeaderTimeout-8*time.Second {
			t.Errorf("it is closed %s later", left)
		}
	})
}

func TestStalledBody_ClosedAfterTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, say := newSlowClient(t)
		say("POST / HTTP/1.1\r\nHost: patchbay.example.com\r\nContent-Length: 100\r\n\r\n")
		say("a piece")
		if left := closedAfter(t, client); left != stallTimeout {
			t.Errorf("it is closed %s later", left)
		}
	})
}

// A byte every 20 s does not extend the deadline of the whole body.
func TestSlowBody_HasTotalDeadline(t *testing.T) {
	t.Parallel()
	const declared = "POST %s HTTP/1.1\r\nHost: patchbay.example.com\r\nContent-Length: %d\r\n\r\n"
	const chunked = "POST %s HTTP/1.1\r\nHost: patchbay.example.com\r\nTransfer-Encoding: chunked\r\n\r\n"
	const piece, most = "1\r\nx\r\n", stallTimeout + maxTimedBody>>17*time.Second
	for _, mode := range []config.HTTPMode{config.HTTPFast, config.HTTPStandard} {
		for name, tc := range map[string]struct {
			head, piece string
			want        time.Duration
		}{
			"short":            {fmt.Sprintf(declared, "/login", 1000), "x", stallTimeout},
			"4 MB":             {fmt.Sprintf(declared, "/login", 4_000_000), "x", stallTimeout + 30*time.Second},
			"endless":          {fmt.Sprintf(declared, "/login", int64(1)<<60), "x", most},
			"chunked":          {fmt.Sprintf(chunked, "/login"), piece, most},
			"not read":         {fmt.Sprintf(declared, "/unread", 200_000), "x", stallTimeout + time.Second},
			"chunked unread":   {fmt.Sprintf(chunked, "/unread"), piece, most},
			"of the fast path": {fmt.Sprintf(declared, "/mcp", 400_000), "x", stallTimeout + 3*time.Second},
		} {
			t.Run(fmt.Sprint(mode, " ", name), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					client, say := newSlowClientIn(t, mode)
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

func TestIdleConnection_ClosedAfterTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, say := newSlowClient(t)
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

func TestLongHead_IsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, _ := newSlowClient(t)
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
