package httpclient_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/fasthttp/httpclient"
)

// FuzzRequest builds a request of values that others may choose: it is rejected, or the server reads this
// request and nothing else.
func FuzzRequest(f *testing.F) {
	f.Add("GET", "/a b", "q=1", "example.com", "X-A", "a", "")
	f.Add("POST", "/a%2fb", "", "[::1]:80", "Content-Length", "3", "hello")
	f.Add("POST", "/", "a HTTP/1.1\r\nX: y", "a\r\nX: y", "X\r\nY", "a\r\n\r\nGET / HTTP/1.1", "0\r\n\r\n")
	f.Add("DELETE", "//x", "?", "EXAMPLE.com:", "transfer-encoding", "chunked", "5\r\nhello")
	f.Add("", "*", "\xff", "", "User-Agent", "", "x")
	f.Fuzz(func(t *testing.T, method, path, query, host, name, value, body string) {
		r := fuzzRequest(t, http.MethodPost)
		r.Method, r.Host, r.URL = method, host, &url.URL{Scheme: "http", Host: "example.com", Path: path, RawQuery: query}
		r.Header = http.Header{name: {value}}
		if body != "" {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		}
		conn := &recorder{scriptedConn: newScriptedConn([]byte(helloResponse), 0)}
		tr := &httpclient.Transport{
			Dial:     func(context.Context, string, string) (net.Conn, error) { return conn, nil },
			Fallback: refusingTransport{}, MaxHeaderBytes: 64 << 10, ReadBuffer: 4 << 10,
		}
		if _, err := readAll(tr, r); err != nil {
			if conn.sent.Len() > 0 {
				t.Fatalf("%v, after %q was sent", err, conn.sent.String())
			}
			return
		}
		wantOnly(t, conn.sent.Bytes(), name, body)
	})
}

// wantOnly expects that sent has one request with one header of the caller, and nothing after it.
func wantOnly(t *testing.T, sent []byte, name, body string) {
	t.Helper()
	in := bufio.NewReader(bytes.NewReader(sent))
	line, _, _ := strings.Cut(string(sent), "\r\n")
	if words := strings.Split(line, " "); len(words) != 3 || words[0] == "" || words[2] != "HTTP/1.1" {
		t.Fatalf("the first line is %q", line)
	}
	got, err := http.ReadRequest(in)
	if err != nil {
		return // net/http's server rejects some targets, such as "a"
	}
	text, err := io.ReadAll(got.Body)
	if err != nil || string(text) != body || in.Buffered() > 0 {
		t.Fatalf("of %q the server reads the body %q, %v, and leaves %d bytes", sent, text, err, in.Buffered())
	}
	for header := range got.Header {
		switch header {
		case name, textproto.CanonicalMIMEHeaderKey(name), "User-Agent", "Accept-Encoding", "Content-Length":
		default:
			t.Errorf("the server reads %s in %q", header, sent)
		}
	}
}

// recorder stores written bytes.
type recorder struct {
	*scriptedConn
	sent bytes.Buffer
}

func (r *recorder) Write(p []byte) (int, error) {
	r.sent.Write(p)
	return r.scriptedConn.Write(p)
}
