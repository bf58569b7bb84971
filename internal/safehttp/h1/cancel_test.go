package h1_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

var errCause = errors.New("nobody wants it any more")

// attempt is a request that can be cancelled, with its transport.
type attempt struct {
	tr          http.RoundTripper
	connections pool
	r           *http.Request
	cancel      func()
}

func newAttempt(t *testing.T, url string) *attempt {
	t.Helper()
	a, tr := new(attempt), newTransport(t)
	tr.Dial = a.connections.dial
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	a.tr, a.cancel = tr, func() { cancel(errCause) }
	a.r = request(t, http.MethodGet, url, nil).WithContext(ctx)
	return a
}

// wantGone expects that nothing is left of the attempt.
func (a *attempt) wantGone(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, errCause) {
		t.Errorf("error = %v, want the cause", err)
	}
	if open := a.connections.open.Load(); open != 0 {
		t.Errorf("%d connections are open", open)
	}
}

func TestACancelledRequestIsNotSent(t *testing.T) {
	t.Parallel()
	p := newPeer(t, answering(hello))
	tr := newTransport(t)
	dials := 0
	tr.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials++
		return new(net.Dialer).DialContext(context.WithoutCancel(ctx), network, address)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCause)
	for _, kept := range []int64{0, 1} {
		if _, err := read(tr, request(t, http.MethodGet, p.url, nil).WithContext(ctx)); !errors.Is(err, errCause) || dials > int(kept) {
			t.Errorf("error = %v after %d dials, want the cause", err, dials)
		}
		p.wantCounts(t, kept, kept)
		wantHello(t, tr, p.url)
	}
	p.wantCounts(t, 1, 2)
}

func TestCancelWhileDialling(t *testing.T) {
	t.Parallel()
	tr := newTransport(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	tr.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel(errCause)
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: ctx.Err()}
	}
	if _, err := read(tr, request(t, http.MethodGet, "http://example.com/", nil).WithContext(ctx)); !errors.Is(err, errCause) {
		t.Errorf("error = %v, want the cause", err)
	}
}

func TestCancelRightAfterDialling(t *testing.T) {
	t.Parallel()
	p := newPeer(t, func(p *peer, conn *net.TCPConn) {
		in := bufio.NewReader(conn)
		p.listen(in)
		_, _ = in.ReadByte()
	})
	tr := newTransport(t)
	connections := new(pool)
	ctx, cancel := context.WithCancelCause(t.Context())
	tr.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		defer cancel(errCause)
		return connections.dial(ctx, network, address)
	}
	_, err := read(tr, request(t, http.MethodGet, p.url, nil).WithContext(ctx))
	if open := connections.open.Load(); !errors.Is(err, errCause) || open != 0 {
		t.Errorf("error = %v, %d connections are open", err, open)
	}
}

func TestAnErrorOfDiallingIsReturnedAsItIs(t *testing.T) {
	t.Parallel()
	tr := newTransport(t)
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: io.ErrNoProgress}
	tr.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, refused }
	_, err := read(tr, request(t, http.MethodGet, "http://example.com/", nil))
	if op, ok := errors.AsType[*net.OpError](err); !ok || op != refused {
		t.Errorf("error = %v", err)
	}
}

func TestCancelWhileWaitingForTheHead(t *testing.T) {
	t.Parallel()
	for name, started := range map[string]string{"of which nothing came": "", "of which some came": "HTTP/1.1 200 OK\r\nX-A", "after an interim answer": "HTTP/1.1 103 Early Hints\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waiting, left := make(chan struct{}), make(chan error, 1)
			p := newPeer(t, func(p *peer, conn *net.TCPConn) {
				in := bufio.NewReader(conn)
				p.listen(in)
				_, _ = io.WriteString(conn, started)
				close(waiting)
				_, err := in.ReadByte()
				left <- err
			})
			a := newAttempt(t, p.url)
			go func() {
				<-waiting
				a.cancel()
			}()
			_, err := read(a.tr, a.r)
			a.wantGone(t, err)
			if err := <-left; err == nil {
				t.Error("the server does not learn of it")
			}
			p.wantCounts(t, 1, 1)
		})
	}
}

// A request on a kept connection may be repeated where that was closed, but not where it was cancelled.
func TestCancelOnAKeptConnection(t *testing.T) {
	t.Parallel()
	waiting := make(chan struct{})
	p := newPeer(t, func(p *peer, conn *net.TCPConn) {
		in := bufio.NewReader(conn)
		if p.listen(in) {
			_, _ = io.WriteString(conn, hello)
		}
		if p.listen(in) {
			close(waiting)
			_, _ = in.ReadByte()
		}
	})
	a := newAttempt(t, p.url)
	wantHello(t, a.tr, p.url)
	go func() {
		<-waiting
		a.cancel()
	}()
	_, err := read(a.tr, a.r)
	a.wantGone(t, err)
	p.wantCounts(t, 1, 2)
}

func TestCancelInTheMiddleOfABody(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{
		"with a length":      ok + "Content-Length: 10\r\n\r\nhello",
		"in chunks":          ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
		"that is compressed": ok + "Content-Encoding: gzip\r\n\r\n" + zippedText[:20],
		"up to the end":      ok + "\r\nhello",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			left := make(chan error, 1)
			p := newPeer(t, func(p *peer, conn *net.TCPConn) {
				in := bufio.NewReader(conn)
				p.listen(in)
				_, _ = io.WriteString(conn, head)
				_, err := in.ReadByte()
				left <- err
			})
			a := newAttempt(t, p.url)
			resp, err := a.tr.RoundTrip(a.r)
			if err != nil {
				t.Fatal(err)
			}
			go a.cancel()
			_, err = io.ReadAll(resp.Body)
			a.wantGone(t, err)
			if _, again := resp.Body.Read(make([]byte, 1)); !errors.Is(again, errCause) {
				t.Errorf("the next read: %v", again)
			}
			if err := <-left; err == nil {
				t.Error("the server does not learn of it")
			}
			if err := resp.Body.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestADeadlineEndsARequest(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{"without an answer": "", "in the middle of a body": ok + "Content-Length: 10\r\n\r\nhello"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, func(p *peer, conn *net.TCPConn) {
				in := bufio.NewReader(conn)
				p.listen(in)
				_, _ = io.WriteString(conn, answer)
				_, _ = in.ReadByte()
			})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			_, err := read(newTransport(t), request(t, http.MethodGet, p.url, nil).WithContext(ctx))
			if timeout, ok := errors.AsType[net.Error](err); !errors.Is(err, context.DeadlineExceeded) || !ok || !timeout.Timeout() {
				t.Errorf("error = %v", err)
			}
		})
	}
}

func TestAClientsTimeLimitHolds(t *testing.T) {
	t.Parallel()
	p := newPeer(t, func(p *peer, conn *net.TCPConn) {
		in := bufio.NewReader(conn)
		p.listen(in)
		_, _ = in.ReadByte()
	})
	client := http.Client{Transport: newTransport(t), Timeout: 20 * time.Millisecond}
	_, err := client.Do(request(t, http.MethodGet, p.url, nil))
	if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
		t.Errorf("error = %v", err)
	}
}

// Whatever of the two comes first: the caller gets the whole answer or the cause, and nobody else anything of it.
func TestCancelAtTheMomentOfTheEnd(t *testing.T) {
	t.Parallel()
	answered := make(chan struct{}, 1)
	p := newPeer(t, func(p *peer, conn *net.TCPConn) {
		in := bufio.NewReader(conn)
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			text := r.URL.Path
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
			if text != "/" {
				answered <- struct{}{}
			}
		}
	})
	tr := newTransport(t)
	var whole, cut int
	for i := range 3000 {
		path := fmt.Sprintf("/%d", i)
		ctx, cancel := context.WithCancelCause(t.Context())
		r := request(t, http.MethodGet, strings.TrimSuffix(p.url, "/")+path, nil).WithContext(ctx)
		go func() {
			<-answered
			cancel(errCause)
		}()
		body, err := read(tr, r)
		switch {
		case err == nil && body == path:
			whole++
		case errors.Is(err, errCause) && strings.HasPrefix(path, body):
			cut++
		default:
			t.Fatalf("%q, %v", body, err)
		}
		if i%10 != 0 {
			continue
		}
		if body, err := read(tr, request(t, http.MethodGet, p.url, nil)); err != nil || body != "/" {
			t.Fatalf("afterwards: %q, %v", body, err)
		}
	}
	t.Logf("%d whole, %d cut", whole, cut)
}

func TestCloseWhileABodyIsRead(t *testing.T) {
	t.Parallel()
	p := newPeer(t, func(p *peer, conn *net.TCPConn) {
		in := bufio.NewReader(conn)
		for p.listen(in) {
			_, _ = io.WriteString(conn, ok+"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
			if p.requests.Load()%2 == 0 {
				_, _ = io.WriteString(conn, "0\r\n\r\n")
			}
		}
	})
	a := newAttempt(t, p.url)
	for range 200 {
		resp, err := a.tr.RoundTrip(request(t, http.MethodGet, p.url, nil))
		if err != nil {
			t.Fatal(err)
		}
		var closers sync.WaitGroup
		for range 2 {
			closers.Go(func() { _ = resp.Body.Close() })
		}
		body, _ := io.ReadAll(resp.Body)
		if len(body) > 0 && string(body) != "hello" {
			t.Fatalf("%q", body)
		}
		closers.Wait()
	}
	if open := a.connections.open.Load(); open > 1 {
		t.Errorf("%d connections are open", open)
	}
}
