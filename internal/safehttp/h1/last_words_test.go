package h1_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"patchbay/internal/safehttp/h1"
)

// deaf is a connection whose server takes a few bytes of a request, and no more.
type deaf struct {
	net.Conn
	takes int
	said  func() // what the server does then
}

var errDeaf = errors.New("the server takes no more")

func (d deaf) Write([]byte) (int, error) {
	d.said()
	return d.takes, errDeaf
}

func TestAServerThatTakesNoMoreMaySayWhy(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\n"
	for name, tc := range map[string]struct {
		say  func(server net.Conn)
		want string
	}{
		"at once": {func(c net.Conn) { _, _ = io.WriteString(c, head+"hello") }, `413 "hello"`},
		"with a slow body": {func(c net.Conn) {
			_, _ = io.WriteString(c, head)
			time.Sleep(time.Minute)
			_, _ = io.WriteString(c, "hello")
		}, `413 "hello"`},
		"and does not":  {func(net.Conn) {}, `error`},
		"and says half": {func(c net.Conn) { _, _ = io.WriteString(c, head[:20]) }, `error`},
		"too late": {func(c net.Conn) {
			time.Sleep(time.Second)
			_, _ = io.WriteString(c, head+"hello")
		}, `error`},
		"and ends": {func(c net.Conn) { _ = c.Close() }, `error`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var talk sync.WaitGroup
				defer talk.Wait()
				client, server := net.Pipe()
				tr := newTransport(t)
				tr.Dial = func(context.Context, string, string) (net.Conn, error) {
					return deaf{client, 5, func() { talk.Go(func() { tc.say(server) }) }}, nil
				}
				r := request(t, http.MethodPost, "http://one.example/", strings.NewReader("hello"))
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				resp, err := tr.RoundTrip(r.WithContext(ctx))
				if err != nil {
					if !errors.Is(err, errDeaf) || tc.want != "error" {
						t.Errorf("error = %v, want %s", err, tc.want)
					}
					return
				}
				body, err := io.ReadAll(resp.Body)
				if got := (outcome{StatusCode: resp.StatusCode, Body: string(body), Problem: problem(err)}); got.String() != tc.want || !resp.Close {
					t.Errorf("%s, close: %t, want %s", got, resp.Close, tc.want)
				}
			})
		})
	}
}

// Nobody waits for last words who does not want an answer any more.
func TestCancelWhileTheRequestIsWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe() // where nobody reads
		defer func() { _ = server.Close() }()
		tr := newTransport(t)
		tr.Dial = func(context.Context, string, string) (net.Conn, error) { return client, nil }
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errCause)
		defer cancel()
		start := time.Now()
		_, err := read(tr, request(t, http.MethodPost, "http://one.example/", strings.NewReader("hello")).WithContext(ctx))
		if took := time.Since(start); !errors.Is(err, errCause) || took != time.Second {
			t.Errorf("error = %v after %s, want the cause after a second", err, took)
		}
	})
}

// late is a connection whose request is cancelled right before the time limit of its last words is lifted.
type late struct {
	net.Conn
	cancel func()
	struck chan struct{}
}

func (l *late) SetDeadline(to time.Time) error {
	defer close(l.struck)
	return l.Conn.SetDeadline(to)
}

func (l *late) SetReadDeadline(to time.Time) error {
	if to.IsZero() {
		l.cancel()
		<-l.struck
	}
	return l.Conn.SetReadDeadline(to)
}

func TestCancelAtTheEndOfLastWords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer func() { _ = server.Close() }()
		ctx, cancel := context.WithCancelCause(t.Context())
		tr := newTransport(t)
		tr.Dial = func(context.Context, string, string) (net.Conn, error) {
			conn := &late{Conn: client, cancel: func() { cancel(errCause) }, struck: make(chan struct{})}
			return deaf{conn, 5, func() {
				go func() { _, _ = io.WriteString(server, "HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\n") }()
			}}, nil
		}
		_, err := read(tr, request(t, http.MethodPost, "http://one.example/", strings.NewReader("hello")).WithContext(ctx))
		if !errors.Is(err, errCause) {
			t.Errorf("error = %v, want the cause", err)
		}
	})
}

// A server that gives up on an idle connection may say so first (408). That is no answer to a request which it did not get.
func TestARequestThatDidNotGoOutGoesOutOnAnotherConnection(t *testing.T) {
	t.Parallel()
	p := newPeer(t, answering(hello))
	tr := newTransport(t)
	first := true
	tr.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil || !first {
			return conn, err
		}
		first = false
		return &stale{TCPConn: conn.(*net.TCPConn)}, nil
	}
	wantHello(t, tr, p.url)
	if body, err := read(tr, request(t, http.MethodPost, p.url, strings.NewReader("{}"))); err != nil || body != "hello" {
		t.Errorf("%q, %v, want hello", body, err)
	}
	p.wantCounts(t, 2, 2)
}

// stale is a connection that takes one request; at the second the server has just said 408 and gone.
type stale struct {
	*net.TCPConn
	writes int
}

func (s *stale) Write(p []byte) (int, error) {
	if s.writes++; s.writes == 1 {
		return s.TCPConn.Write(p)
	}
	return 0, syscall.EPIPE
}

func (s *stale) Read(p []byte) (int, error) {
	if s.writes == 1 {
		return s.TCPConn.Read(p)
	}
	return copy(p, "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), nil
}

// The server's end resets a connection on which something was not read. What it said before counts.
func TestAnAnswerBeforeAResetIsRead(t *testing.T) {
	t.Parallel()
	p := newPeer(t, func(_ *peer, conn *net.TCPConn) {
		_, _ = conn.Read(make([]byte, 1))
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello")
	})
	for range 100 {
		r := request(t, http.MethodPost, p.url, strings.NewReader(strings.Repeat("y", h1.MaxBody)))
		if got := ask(newTransport(t), r); got.String() != `413 "hello"` {
			t.Fatalf("%s, want 413", got)
		}
	}
}
