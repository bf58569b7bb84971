package httpclient_test

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

	"patchbay/internal/fasthttp/httpclient"
)

// rejectingConn is a connection whose server reads a few bytes of a request, and no more.
type rejectingConn struct {
	net.Conn
	accepted int
	onWrite  func() // what the server does then
}

var errRejected = errors.New("the server takes no more")

func (d rejectingConn) Write([]byte) (int, error) {
	d.onWrite()
	return d.accepted, errRejected
}

func TestEarlyResponse_ReadAfterWriteError(t *testing.T) {
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
					return rejectingConn{client, 5, func() { talk.Go(func() { tc.say(server) }) }}, nil
				}
				r := newRequest(t, http.MethodPost, "http://one.example/", strings.NewReader("hello"))
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				resp, err := tr.RoundTrip(r.WithContext(ctx))
				if err != nil {
					if !errors.Is(err, errRejected) || tc.want != "error" {
						t.Errorf("error = %v, want %s", err, tc.want)
					}
					return
				}
				body, err := io.ReadAll(resp.Body)
				if got := (outcome{StatusCode: resp.StatusCode, Body: string(body), Problem: errorKind(err)}); got.String() != tc.want || !resp.Close {
					t.Errorf("%s, close: %t, want %s", got, resp.Close, tc.want)
				}
			})
		})
	}
}

// A cancelled caller does not wait for an early response.
func TestCancel_WhileWritingRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe() // without a reader
		defer func() { _ = server.Close() }()
		tr := newTransport(t)
		tr.Dial = func(context.Context, string, string) (net.Conn, error) { return client, nil }
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errCause)
		defer cancel()
		start := time.Now()
		_, err := readAll(tr, newRequest(t, http.MethodPost, "http://one.example/", strings.NewReader("hello")).WithContext(ctx))
		if took := time.Since(start); !errors.Is(err, errCause) || took != time.Second {
			t.Errorf("error = %v after %s, want the cause after a second", err, took)
		}
	})
}

// cancellingConn cancels the request right before its read deadline is cleared.
type cancellingConn struct {
	net.Conn
	cancel      func()
	interrupted chan struct{}
}

func (l *cancellingConn) SetDeadline(to time.Time) error {
	defer close(l.interrupted)
	return l.Conn.SetDeadline(to)
}

func (l *cancellingConn) SetReadDeadline(to time.Time) error {
	if to.IsZero() {
		l.cancel()
		<-l.interrupted
	}
	return l.Conn.SetReadDeadline(to)
}

func TestCancel_AfterEarlyResponse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer func() { _ = server.Close() }()
		ctx, cancel := context.WithCancelCause(t.Context())
		tr := newTransport(t)
		tr.Dial = func(context.Context, string, string) (net.Conn, error) {
			conn := &cancellingConn{Conn: client, cancel: func() { cancel(errCause) }, interrupted: make(chan struct{})}
			return rejectingConn{conn, 5, func() {
				go func() { _, _ = io.WriteString(server, "HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\n") }()
			}}, nil
		}
		_, err := readAll(tr, newRequest(t, http.MethodPost, "http://one.example/", strings.NewReader("hello")).WithContext(ctx))
		if !errors.Is(err, errCause) {
			t.Errorf("error = %v, want the cause", err)
		}
	})
}

// A server that closes an idle connection may send 408 first, which is no response to a request that it did not
// get.
func TestUnsentRequest_RetriedOnAnotherConnection(t *testing.T) {
	t.Parallel()
	p := newPeer(t, respondWith(helloResponse))
	tr := newTransport(t)
	first := true
	tr.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil || !first {
			return conn, err
		}
		first = false
		return &staleConn{TCPConn: conn.(*net.TCPConn)}, nil
	}
	wantHello(t, tr, p.url)
	if body, err := readAll(tr, newRequest(t, http.MethodPost, p.url, strings.NewReader("{}"))); err != nil || body != "hello" {
		t.Errorf("%q, %v, want hello", body, err)
	}
	p.wantCounts(t, 2, 2)
}

// staleConn serves one request. Before the second one the server has sent 408 and closed.
type staleConn struct {
	*net.TCPConn
	writes int
}

func (s *staleConn) Write(p []byte) (int, error) {
	if s.writes++; s.writes == 1 {
		return s.TCPConn.Write(p)
	}
	return 0, syscall.EPIPE
}

func (s *staleConn) Read(p []byte) (int, error) {
	if s.writes == 1 {
		return s.TCPConn.Read(p)
	}
	return copy(p, "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), nil
}

// A server that closes with unread data resets the connection. Its response still counts.
func TestResponseBeforeReset_IsRead(t *testing.T) {
	t.Parallel()
	p := newPeer(t, func(_ *peer, conn *net.TCPConn) {
		_, _ = conn.Read(make([]byte, 1))
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello")
	})
	for range 100 {
		r := newRequest(t, http.MethodPost, p.url, strings.NewReader(strings.Repeat("y", httpclient.MaxBody)))
		if got := roundTripOutcome(newTransport(t), r); got.String() != `413 "hello"` {
			t.Fatalf("%s, want 413", got)
		}
	}
}
