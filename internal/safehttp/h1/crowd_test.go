package h1_test

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

// echoes are servers that answer with what they were asked, each in another way.
func echoes(t *testing.T) []string {
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
	return append(urls, newPeer(t, func(_ *peer, conn *net.TCPConn) { // gives up every connection after three requests, without a word
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

func TestEachGetsTheirOwnAnswer(t *testing.T) {
	t.Parallel()
	urls, tr, connections := echoes(t), newTransport(t), new(pool)
	tr.Dial, tr.MaxIdlePerHost = connections.dial, 8
	var all sync.WaitGroup
	for who := range 200 {
		all.Go(func() {
			for i := range 15 {
				text := fmt.Sprintf("%d asks for the %dth time %s", who, i, strings.Repeat("and again ", who%7))
				err := askEcho(t.Context(), tr, urls[(who+i)%len(urls)], text, mood(who+i))
				if err != nil && !(mood(who+i).fickle() && errors.Is(err, context.Canceled)) {
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

// mood is how somebody asks.
type mood int

func (m mood) fickle() bool { return m%11 == 0 } // cancels
func (m mood) hasty() bool  { return m%13 == 0 } // leaves before the end

func askEcho(ctx context.Context, tr http.RoundTripper, url, text string, m mood) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(text))
	if err != nil {
		return err
	}
	r.Header["Idempotency-Key"] = nil // one of the servers hangs up when it likes
	if m.fickle() {
		go cancel()
	}
	resp, err := tr.RoundTrip(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if m.hasty() {
		_, err = io.ReadFull(resp.Body, make([]byte, 1))
		return err
	}
	body, err := io.ReadAll(resp.Body)
	if err == nil && string(body) != text {
		return fmt.Errorf("got %q", body)
	}
	return err
}
