package httpserver_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/fasthttp/httpserver"
)

// oddHeads are requests that net/http answers or rejects before CR LF CR LF has arrived.
var oddHeads = map[string][]string{
	"bare line feeds":              {"GET /healthz HTTP/1.1\nHost: h\n\n"},
	"bare line feeds of a POST":    {"POST /mcp HTTP/1.1\nHost: h\nContent-Length: 1\n\nx"},
	"a bare line feed at the end":  {"POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\nx"},
	"a bare line feed in between":  {"POST /mcp HTTP/1.1\r\nHost: h\nContent-Length: 1\r\n\nx"},
	"a bare line feed, in pieces":  {"POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r", "\n", "\n", "x"},
	"a NUL":                        {"POST /mcp HTTP/1.1\r\nHo\x00st: h\r\n\r\n"},
	"a vertical tab":               {"POST /m\x0bcp HTTP/1.1\r\n"},
	"a line that is no field":      {"POST /mcp HTTP/1.1\r\nHost: h\r\nno field\r\n", "A: b"},
	"a first line that is none":    {"rubbish\r\n", "A"},
	"a first line in pieces":       {"rub", "bish\r", "\n"},
	"a path that is none":          {"POST mcp HTTP/1.1\r\n"},
	"a version that is none":       {"POST /mcp HTTP/one\r\n"},
	"a name with a space":          {"POST /mcp HTTP/1.1\r\nHost : h\r\n", "\r\n"},
	"a carriage return in a line":  {"POST /mcp HTTP/1.1\r\r\n"},
	"line ends before the first":   {"\r\n" + formatPost("/mcp", "x")},
	"a line feed before the first": {"\n" + formatPost("/mcp", "x")},
}

// The same segments go to both servers: what net/http answers at once has to be answered at once.
func TestOddHeads_AnsweredAsNetHTTPDoes(t *testing.T) {
	t.Parallel()
	fast := openServer(t, httpserver.Options{ReadHeaderTimeout: time.Hour, Handler: http.HandlerFunc(echo)})
	standard := serveNetHTTP(t, http.HandlerFunc(echo))
	for name, segments := range oddHeads {
		for what, before := range map[string]string{"first": "", "second": formatPost("/mcp", "before")} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				want := exchange(t, standard, before, segments)
				if diff := cmp.Diff(want, exchange(t, fast.addr, before, segments)); diff != "" {
					t.Errorf("(-net/http +httpserver):\n%s", diff)
				}
			})
		}
	}
}

// The number of line ends allowed before a request has to be that of net/http.
func TestLineEndsAfterBody_CountedAcrossSegments(t *testing.T) {
	t.Parallel()
	fast := openServer(t, httpserver.Options{ReadHeaderTimeout: time.Hour, Handler: http.HandlerFunc(echo)})
	standard := serveNetHTTP(t, http.HandlerFunc(echo))
	for n := range 8 {
		ends := strings.Repeat("\r\n", 4)[:n]
		for cut := range n + 1 {
			segments := []string{ends[:cut], ends[cut:] + formatPost("/mcp", "after")}
			want := exchange(t, standard, formatPost("/mcp", "before"), segments)
			if diff := cmp.Diff(want, exchange(t, fast.addr, formatPost("/mcp", "before"), segments)); diff != "" {
				t.Errorf("%d line ends, cut behind %d (-net/http +httpserver):\n%s", n, cut, diff)
			}
		}
	}
}

// serveNetHTTP starts net/http's server and returns its address.
func serveNetHTTP(t *testing.T, h http.Handler) string {
	t.Helper()
	var on net.ListenConfig
	l, err := on.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Hour}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return l.Addr().String()
}

// exchange sends before, if not empty, and reads its response. Then it sends segments. It returns all
// responses, without dates.
func exchange(t *testing.T, addr, before string, segments []string) (all []string) {
	t.Helper()
	var to net.Dialer
	c, err := to.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(8 * time.Second)) // ends a failing test
	in := bufio.NewReader(c)
	read := func() {
		resp, err := http.ReadResponse(in, &http.Request{Method: http.MethodPost})
		if err != nil {
			all = append(all, "no answer: "+fmt.Sprintf("%T", err))
			return
		}
		body, err := io.ReadAll(resp.Body)
		if errors.Is(err, syscall.ECONNRESET) {
			err = nil // the system resets a connection that is closed with unread bytes, soon or later
		}
		all = append(all, fmt.Sprintf("%s, close %t: %s, %v", resp.Status, resp.Close, body, err))
	}
	if before != "" {
		_, _ = io.WriteString(c, before)
		read()
	}
	for _, segment := range segments {
		_, _ = io.WriteString(c, segment)
	}
	read()
	return all
}
