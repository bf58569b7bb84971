package httpclient_test

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

// cancelledCall is a request that can be cancelled, with its transport.
type cancelledCall struct {
	tr          http.RoundTripper
	connections bufferPool
	r           *http.Request
	cancel      func()
}

func newCancelledCall(t *testing.T, url string) *cancelledCall {
	t.Helper()
	a, tr := new(cancelledCall), newTransport(t)
	tr.Dial = a.connections.dial
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	a.tr, a.cancel = tr, func() { cancel(errCause) }
	a.r = newRequest(t, http.MethodGet, url, nil).WithContext(ctx)
	return a
}

// wantCancelled expects the cause as error, and no open connection.
func (a *cancelledCall) wantCancelled(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, errCause) {
		t.Errorf("error = %v, want the cause", err)
	}
	if open := a.connections.open.Load(); open != 0 {
		t.Errorf("%d connections are open", open)
	}
}

func TestCancel_BeforeSendSendsNothing(t *testing.T) {
	t.Parallel()
	p := newPeer(t, respondWith(helloResponse))
	tr := newTransport(t)
	dials := 0
	tr.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials++
		return new(net.Dialer).DialContext(context.WithoutCancel(ctx), network, address)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCause)
	for _, kept := range []int64{0, 1} {
		if _, err := readAll(tr, newRequest(t, http.MethodGet, p.url, nil).WithContext(ctx)); !errors.Is(err, errCause) || dials > int(kept) {
			t.Errorf("error = %v after %d dials, want the cause", err, dials)
		}
		p.wantCounts(t, kept, kept)
		wantHello(t, tr, p.url)
	}
	p.wantCounts(t, 1, 2)
}

func TestCancel_WhileDialling(t *testing.T) {
	t.Parallel()
	tr := newTransport(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	tr.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel(errCause)
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: ctx.Err()}
	}
	if _, err := readAll(tr, newRequest(t, http.MethodGet, "http://example.com/", nil).WithContext(ctx)); !errors.Is(err, errCause) {
		t.Errorf("error = %v, want the cause", err)
	}
}

func TestCancel_RightAfterDialling(t *testing.T) {
	t.Parallel()
	p := newPeer(t, func(p *peer, conn *net.TCPConn) {
		in := bufio.NewReader(conn)
		p.readRequest(in)
		_, _ = in.ReadByte()
	})
	tr := newTransport(t)
	connections := new(bufferPool)
	ctx, cancel := context.WithCancelCause(t.Context())
	tr.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		defer cancel(errCause)
		return connections.dial(ctx, network, address)
	}
	_, err := readAll(tr, newRequest(t, http.MethodGet, p.url, nil).WithContext(ctx))
	if open := connections.open.Load(); !errors.Is(err, errCause) || open != 0 {
		t.Errorf("error = %v, %d connections are open", err, open)
	}
}

func TestDialError_IsReturnedUnchanged(t *testing.T) {
	t.Parallel()
	tr := newTransport(t)
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: io.ErrNoProgress}
	tr.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, refused }
	_, err := readAll(tr, newRequest(t, http.MethodGet, "http://example.com/", nil))
	if op, ok := errors.AsType[*net.OpError](err); !ok || op != refused {
		t.Errorf("error = %v", err)
	}
}

func TestCancel_WhileWaitingForHead(t *testing.T) {
	t.Parallel()
	for name, started := range map[string]string{"of which nothing came": "", "of which some came": "HTTP/1.1 200 OK\r\nX-A", "after an interim answer": "HTTP/1.1 103 Early Hints\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waiting, left := make(chan struct{}), make(chan error, 1)
			p := newPeer(t, func(p *peer, conn *net.TCPConn) {
				in := bufio.NewReader(conn)
				p.readRequest(in)
				_, _ = io.WriteString(conn, started)
				close(waiting)
				_, err := in.ReadByte()
				left <- err
			})
			a := newCancelledCall(t, p.url)
			go func() {
				<-waiting
				a.cancel()
			}()
			_, err := readAll(a.tr, a.r)
			a.wantCancelled(t, err)
			if err := <-left; err == nil {
				t.Error("the server does not learn of it")
			}
			p.wantCounts(t, 1, 1)
		})
	}
}

// A closed reused connection may cause a retry, a cancelled request must not.
func TestCancel_OnReusedConnection(t *testing.T) {
	t.Parallel()
	waiting := make(chan struct{})
	p := newPeer(t, func(p *peer, conn *net.TCPConn) {
		in := bufio.NewReader(conn)
		if p.readRequest(in) {
			_, _ = io.WriteString(conn, helloResponse)
		}
		if p.readRequest(in) {
			close(waiting)
			_, _ = in.ReadByte()
		}
	})
	a := newCancelledCall(t, p.url)
	wantHello(t, a.tr, p.url)
	go func() {
		<-waiting
		a.cancel()
	}()
	_, err := readAll(a.tr, a.r)
	a.wantCancelled(t, err)
	p.wantCounts(t, 1, 2)
}

func TestCancel_WhileReadingBody(t *testing.T) {
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
				p.readRequest(in)
				_, _ = io.WriteString(conn, head)
				_, err := in.ReadByte()
				left <- err
			})
			a := newCancelledCall(t, p.url)
			resp, err := a.tr.RoundTrip(a.r)
			if err != nil {
				t.Fatal(err)
			}
			go a.cancel()
			_, err = io.ReadAll(resp.Body)
			a.wantCancelled(t, err)
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

func TestDeadline_EndsRequest(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{"without an answer": "", "in the middle of a body": ok + "Content-Length: 10\r\n\r\nhello"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, func(p *peer, conn *net.TCPConn) {
				in := bufio.NewReader(conn)
				p.readRequest(in)
				_, _ = io.WriteString(conn, answer)
				_, _ = in.ReadByte()
			})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			_, err := readAll(newTransport(t), newRequest(t, http.MethodGet, p.url, nil).WithContext(ctx))
			if timeout, ok := errors.AsType[net.Error](err); !errors.Is(err, context.DeadlineExceeded) || !ok || !timeout.Timeout() {
				t.Errorf("error = %v", err)
			}
		})
	}
}

func TestClientTimeout_EndsRequest(t *testing.T) {
	t.Parallel()
	p := newPeer(t, func(p *peer, conn *net.TCPConn) {
		in := bufio.NewReader(conn)
		p.readRequest(in)
		_, _ = in.ReadByte()
	})
	client := http.Client{Transport: newTransport(t), Timeout: 20 * time.Millisecond}
	_, err := client.Do(newRequest(t, http.MethodGet, p.url, nil))
	if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
		t.Errorf("error = %v", err)
	}
}

// The caller gets the whole response or the cause. No other request gets any part of the response.
func TestCancel_AtEndOfBody(t *testing.T) {
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
		r := newRequest(t, http.MethodGet, strings.TrimSuffix(p.url, "/")+path, nil).WithContext(ctx)
		go func() {
			<-answered
			cancel(errCause)
		}()
		body, err := readAll(tr, r)
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
		if body, err := readAll(tr, newRequest(t, http.MethodGet, p.url, nil)); err != nil || body != "/" {
			t.Fatalf("afterwards: %q, %v", body, err)
		}
	}
	t.Logf("%d whole, %d cut", whole, cut)
}

func TestClose_WhileReadingBody(t *testing.T) {
	t.Parallel()
	p := newPeer(t, func(p *peer, conn *net.TCPConn) {
		in := bufio.NewReader(conn)
		for p.readRequest(in) {
			_, _ = io.WriteString(conn, ok+"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
			if p.requests.Load()%2 == 0 {
				_, _ = io.WriteString(conn, "0\r\n\r\n")
			}
		}
	})
	a := newCancelledCall(t, p.url)
	for range 200 {
		resp, err := a.tr.RoundTrip(newRequest(t, http.MethodGet, p.url, nil))
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
