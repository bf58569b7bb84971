package httpclient_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// startEchoServers starts servers that respond with the request's body, each with another framing.
func startEchoServers(t *testing.T) []string {
	t.Helper()
	var urls []string
	for _, write := range []func(w http.ResponseWriter, text []byte){
		func(w http.ResponseWriter, text []byte) { _, _ = w.Write(text) },
		func(w http.ResponseWriter, text []byte) { // in chunks
			_, _ = w.Write(text[:10])
			_ = http.NewResponseController(w).Flush()
			_, _ = w.Write(text[10:])
		},
		func(w http.ResponseWriter, text []byte) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(text)
			_ = z.Close()
		},
		func(w http.ResponseWriter, text []byte) {
			w.Header().Set("Connection", "close")
			_, _ = w.Write(text)
		},
		func(w http.ResponseWriter, text []byte) {
			w.WriteHeader(http.StatusEarlyHints)
			_, _ = w.Write(text)
		},
	} {
		up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			write(w, text)
		}))
		t.Cleanup(up.Close)
		urls = append(urls, up.URL)
	}
	return append(urls, newPeer(t, func(_ *peer, conn *net.TCPConn) { // closes every connection after three requests, without Connection: close
		in := bufio.NewReader(conn)
		for range 3 {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			text, _ := io.ReadAll(r.Body)
			_, _ = fmt.Fprintf(conn, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
		}
	}).url)
}

func TestRoundTrip_ConcurrentCallersGetTheirResponses(t *testing.T) {
	t.Parallel()
	urls, tr, connections := startEchoServers(t), newTransport(t), new(bufferPool)
	tr.Dial, tr.MaxIdlePerHost = connections.dial, 8
	var all sync.WaitGroup
	for who := range 200 {
		all.Go(func() {
			for i := range 15 {
				text := fmt.Sprintf("%d asks for the %dth time %s", who, i, strings.Repeat("and again ", who%7))
				err := askEcho(t.Context(), tr, urls[(who+i)%len(urls)], text, clientBehavior(who+i))
				if err != nil && !(clientBehavior(who+i).cancels() && errors.Is(err, context.Canceled)) {
					t.Errorf("%s: %v", text, err)
				}
			}
		})
	}
	all.Wait()
	tr.CloseIdleConnections()
	if open := connections.open.Load(); open != 0 {
		t.Errorf("%d connections are open", open)
	}
}

// clientBehavior is whether a client cancels its request or leaves early.
type clientBehavior int

func (m clientBehavior) cancels() bool     { return m%11 == 0 }
func (m clientBehavior) leavesEarly() bool { return m%13 == 0 } // closes the body before its end

func askEcho(ctx context.Context, tr http.RoundTripper, url, text string, m clientBehavior) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(text))
	if err != nil {
		return err
	}
	r.Header["Idempotency-Key"] = nil // one of the servers closes connections at any time
	if m.cancels() {
		go cancel()
	}
	resp, err := tr.RoundTrip(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if m.leavesEarly() {
		_, err = io.ReadFull(resp.Body, make([]byte, 1))
		return err
	}
	body, err := io.ReadAll(resp.Body)
	if err == nil && string(body) != text {
		return fmt.Errorf("got %q", body)
	}
	return err
}
