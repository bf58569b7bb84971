package httpclient_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// wantHello sends one request.
func wantHello(t *testing.T, tr http.RoundTripper, url string) {
	t.Helper()
	if body, err := readAll(tr, newRequest(t, http.MethodGet, url, nil)); err != nil || body != "hello" {
		t.Errorf("%q, %v, want hello", body, err)
	}
}

// wantCounts compares the server's counters.
func (p *peer) wantCounts(t *testing.T, connections, requests int64) {
	t.Helper()
	if c, r := p.connections.Load(), p.requests.Load(); c != connections || r != requests {
		t.Errorf("the server saw %d connections and %d requests, want %d and %d", c, r, connections, requests)
	}
}

// bufferPool counts the connections that a transport opened and has not closed.
type bufferPool struct{ made, open atomic.Int64 }

func (p *bufferPool) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	p.made.Add(1)
	p.open.Add(1)
	return &pooled{TCPConn: conn.(*net.TCPConn), pool: p}, nil
}

type pooled struct {
	*net.TCPConn
	pool   *bufferPool
	closed atomic.Bool
}

func (c *pooled) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.pool.open.Add(-1)
	}
	return c.TCPConn.Close()
}

func TestConnection_IsReused(t *testing.T) {
	t.Parallel()
	p := newPeer(t, respondWith(helloResponse))
	tr := newTransport(t)
	for range 5 {
		wantHello(t, tr, p.url)
		if body, err := readAll(tr, newRequest(t, http.MethodPost, p.url, strings.NewReader("{}"))); err != nil || body != "hello" {
			t.Errorf("%q, %v", body, err)
		}
	}
	p.wantCounts(t, 1, 10)
}

func TestConnection_IsClosedWhenNotReusable(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer string
		use    func(resp *http.Response, cancel func())
	}{
		"when its body is closed before the end": {helloResponse, func(resp *http.Response, _ func()) { _, _ = io.ReadFull(resp.Body, make([]byte, 4)) }},
		"when its body is not read":              {helloResponse, func(*http.Response, func()) {}},
		"when its last chunk is not read": {ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", func(resp *http.Response, _ func()) {
			_, _ = io.ReadFull(resp.Body, make([]byte, 4))
		}},
		"when its request is cancelled": {helloResponse, func(resp *http.Response, cancel func()) {
			cancel()
			_, _ = io.ReadAll(resp.Body)
		}},
		"when the server says so": {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", func(resp *http.Response, _ func()) { _, _ = io.ReadAll(resp.Body) }},
		"when more comes than was told": {helloResponse + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", func(resp *http.Response, _ func()) {
			_, _ = io.ReadAll(resp.Body)
		}},
		"when a body comes where none may be": {"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nevil", func(*http.Response, func()) {}},
		"when it switches protocols":          {"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nevil", func(*http.Response, func()) {}},
		"when its status is none":             {"HTTP/1.1 099 Odd\r\nContent-Length: 5\r\n\r\nhello", func(resp *http.Response, _ func()) { _, _ = io.ReadAll(resp.Body) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, func(p *peer, conn *net.TCPConn) {
				in := bufio.NewReader(conn)
				answer := helloResponse
				if p.connections.Load() == 1 {
					answer = tc.answer
				}
				for p.readRequest(in) {
					_, _ = io.WriteString(conn, answer)
				}
			})
			tr := newTransport(t)
			connections := new(bufferPool)
			tr.Dial = connections.dial
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			resp, err := tr.RoundTrip(newRequest(t, http.MethodGet, p.url, nil).WithContext(ctx))
			if err != nil {
				t.Fatal(err)
			}
			tc.use(resp, cancel)
			_ = resp.Body.Close()
			if open := connections.open.Load(); open != 0 {
				t.Errorf("%d connections are open", open)
			}
			wantHello(t, tr, p.url)
			p.wantCounts(t, 2, 2)
		})
	}
}

// Unsolicited data would be read as the response to the next request, of another caller.
func TestConnection_WithUnsolicitedDataIsClosed(t *testing.T) {
	t.Parallel()
	spoken := make(chan struct{})
	p := newPeer(t, func(p *peer, conn *net.TCPConn) {
		in := bufio.NewReader(conn)
		for p.readRequest(in) {
			_, _ = io.WriteString(conn, helloResponse)
			if p.connections.Load() == 1 {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
				close(spoken)
			}
		}
	})
	tr := newTransport(t)
	wantHello(t, tr, p.url)
	<-spoken
	wantHello(t, tr, p.url)
	p.wantCounts(t, 2, 2)
}

func TestRequest_SkipsConnectionClosedByServer(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			ended := make(chan struct{}, 3)
			p := newPeer(t, func(p *peer, conn *net.TCPConn) {
				if p.readRequest(bufio.NewReader(conn)) {
					_, _ = io.WriteString(conn, helloResponse)
				}
				_ = conn.Close()
				ended <- struct{}{}
			})
			tr := newTransport(t)
			for range 3 {
				if body, err := readAll(tr, newRequest(t, method, p.url, nil)); err != nil || body != "hello" {
					t.Errorf("%q, %v, want hello", body, err)
				}
				<-ended
			}
			p.wantCounts(t, 3, 3)
		})
	}
}

// A server that closes a reused connection after it got a request may have executed it.
func TestRequest_RetriedOnlyIfSafe(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		method string
		change func(*http.Request)
		again  bool
	}{
		"GET":                                    {method: http.MethodGet, again: true},
		"HEAD":                                   {method: http.MethodHead, again: true},
		"OPTIONS":                                {method: http.MethodOptions, again: true},
		"POST":                                   {method: http.MethodPost},
		"DELETE":                                 {method: http.MethodDelete},
		"PUT":                                    {method: http.MethodPut},
		"POST with a key":                        {method: http.MethodPost, change: header("Idempotency-Key", "k"), again: true},
		"POST with a key of the old name":        {method: http.MethodPost, change: header("X-Idempotency-Key", "k"), again: true},
		"POST with a key that is not to be sent": {method: http.MethodPost, change: func(r *http.Request) { r.Header["Idempotency-Key"] = nil }, again: true},
	} {
		for _, end := range []string{"closed", "reset"} {
			t.Run(name+"/"+end, func(t *testing.T) {
				t.Parallel()
				p := newPeer(t, func(p *peer, conn *net.TCPConn) {
					first := p.connections.Load() == 1
					in := bufio.NewReader(conn)
					for p.readRequest(in) {
						if first && p.requests.Load() == 2 {
							if end == "reset" {
								_ = conn.SetLinger(0)
							}
							return
						}
						_, _ = io.WriteString(conn, strings.TrimSuffix(helloResponse, "hello"))
						if tc.method != http.MethodHead || p.requests.Load() == 1 {
							_, _ = io.WriteString(conn, "hello")
						}
					}
				})
				tr := newTransport(t)
				wantHello(t, tr, p.url)
				r := newRequest(t, tc.method, p.url, nil)
				if tc.method == http.MethodPost {
					r = newRequest(t, tc.method, p.url, strings.NewReader("{}"))
				}
				if tc.change != nil {
					tc.change(r)
				}
				_, err := readAll(tr, r)
				switch {
				case tc.again && err != nil:
					t.Error(err)
				case tc.again:
					p.wantCounts(t, 2, 3)
				case end == "closed" && !errors.Is(err, io.EOF), end == "reset" && !errors.Is(err, syscall.ECONNRESET):
					t.Errorf("error = %v", err)
				default:
					p.wantCounts(t, 1, 2)
				}
			})
		}
	}
}

// A server that closes new connections is not retried forever.
func TestRequest_NotRetriedOnNewConnection(t *testing.T) {
	t.Parallel()
	p := newPeer(t, func(p *peer, conn *net.TCPConn) { p.readRequest(bufio.NewReader(conn)) })
	if _, err := readAll(newTransport(t), newRequest(t, http.MethodGet, p.url, nil)); !errors.Is(err, io.EOF) {
		t.Errorf("error = %v, want the end", err)
	}
	p.wantCounts(t, 1, 1)
}

// A partial response is final.
func TestRequest_NotRetriedAfterResponseBegan(t *testing.T) {
	t.Parallel()
	p := newPeer(t, func(p *peer, conn *net.TCPConn) {
		in := bufio.NewReader(conn)
		if p.readRequest(in) {
			_, _ = io.WriteString(conn, helloResponse)
		}
		if p.readRequest(in) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200")
		}
	})
	tr := newTransport(t)
	wantHello(t, tr, p.url)
	if body, err := readAll(tr, newRequest(t, http.MethodGet, p.url, nil)); err == nil {
		t.Errorf("%q, want an error", body)
	}
	p.wantCounts(t, 1, 2)
}

func TestIdlePool_IsBounded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ all, perHost, kept int }{
		"for each host": {all: 100, perHost: 3, kept: 6},
		"in all":        {all: 4, perHost: 100, kept: 4},
		"to none":       {all: 0, perHost: 100, kept: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTransport(t)
			connections := new(bufferPool)
			tr.Dial, tr.MaxIdle, tr.MaxIdlePerHost = connections.dial, tc.all, tc.perHost
			hosts := []*peer{newPeer(t, respondWith(helloResponse)), newPeer(t, respondWith(helloResponse))}
			for range 2 { // the second time some are idle
				var bodies []io.ReadCloser
				for i := range 20 {
					resp, err := tr.RoundTrip(newRequest(t, http.MethodGet, hosts[i%2].url, nil))
					if err != nil {
						t.Fatal(err)
					}
					bodies = append(bodies, resp.Body)
				}
				for _, body := range bodies {
					if text, err := io.ReadAll(body); err != nil || string(text) != "hello" {
						t.Error(string(text), err)
					}
				}
				if open := connections.open.Load(); open != int64(tc.kept) {
					t.Errorf("%d connections are open, want %d", open, tc.kept)
				}
			}
			if made := connections.made.Load(); made != int64(40-tc.kept) {
				t.Errorf("%d connections were made, want %d", made, 40-tc.kept)
			}
			tr.CloseIdleConnections()
			if open := connections.open.Load(); open != 0 {
				t.Errorf("%d connections are open after all", open)
			}
			wantHello(t, tr, hosts[0].url)
		})
	}
}

type idleCloser struct {
	refusingTransport
	closed int
}

func (i *idleCloser) CloseIdleConnections() { i.closed++ }

func TestCloseIdleConnections_ClosesNextToo(t *testing.T) {
	t.Parallel()
	tr, next := newTransport(t), new(idleCloser)
	tr.Fallback = next
	if tr.CloseIdleConnections(); next.closed != 1 {
		t.Errorf("told %d times", next.closed)
	}
}
