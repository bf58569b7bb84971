package httpclient_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/fasthttp/httpclient"
	"patchbay/internal/fasthttp/tcp"
)

// patience ends a hanging test.
const patience = 30 * time.Second

// peer is a server whose bytes the test writes.
type peer struct {
	url         string
	address     string
	connections atomic.Int64
	requests    atomic.Int64
}

// newPeer starts a server that calls handle for each connection, and closes it afterwards.
func newPeer(t testing.TB, handle func(p *peer, conn *net.TCPConn)) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{url: "http://" + l.Addr().String() + "/", address: l.Addr().String()}
	var running sync.WaitGroup
	var mu sync.Mutex // guards open
	open := make(map[net.Conn]bool)
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.connections.Add(1)
			mu.Lock()
			open[conn] = true
			mu.Unlock()
			running.Go(func() {
				defer func() {
					_ = conn.Close()
					mu.Lock()
					defer mu.Unlock()
					delete(open, conn)
				}()
				handle(p, conn.(*net.TCPConn))
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for conn := range open {
			_ = conn.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	return p
}

// readRequest reads one whole request. It returns false if none comes.
func (p *peer) readRequest(in *bufio.Reader) bool {
	r, err := http.ReadRequest(in)
	if err != nil {
		return false
	}
	p.requests.Add(1)
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil
}

// respondWith responds to each request with the same bytes.
func respondWith(answer string) func(*peer, *net.TCPConn) {
	return func(p *peer, conn *net.TCPConn) {
		for in := bufio.NewReader(conn); p.readRequest(in); {
			if _, err := io.WriteString(conn, answer); err != nil {
				return
			}
		}
	}
}

// helloResponse leaves the connection reusable.
const helloResponse = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

// newTransport is configured as in safehttp, but its Fallback refuses every request.
func newTransport(t testing.TB) *httpclient.Transport {
	t.Helper()
	tr := &httpclient.Transport{
		Dial: dial, Fallback: refusingTransport{}, MaxIdle: 1000, MaxIdlePerHost: 300, IdleTimeout: patience,
		MaxHeaderBytes: 64 << 10, ReadBuffer: 16 << 10,
	}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	made, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return tcp.WrapConn(made), nil
}

// netHTTP is the transport to compare with.
func netHTTP(t testing.TB) *http.Transport {
	t.Helper()
	tr := &http.Transport{
		DialContext: new(net.Dialer).DialContext, MaxIdleConnsPerHost: 300, MaxResponseHeaderBytes: 64 << 10, ReadBufferSize: 16 << 10,
	}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

var errNotOurs = errors.New("that is none for h1")

// refusingTransport refuses every request.
type refusingTransport struct{}

func (refusingTransport) RoundTrip(*http.Request) (*http.Response, error) { return nil, errNotOurs }

// newRequest returns a request with a deadline.
func newRequest(t testing.TB, method, url string, body io.Reader) *http.Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// readAll sends a request and reads the whole response.
func readAll(tr http.RoundTripper, r *http.Request) (string, error) {
	resp, err := tr.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}
