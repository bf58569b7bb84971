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
