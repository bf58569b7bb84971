package httpclient_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/fasthttp/httpclient"
)

// receivedRequest is a request as a server reads it.
type receivedRequest struct {
	Dialled       string
	Line          string
	Lines         []string // the header lines as sent, sorted
	Host          string
	Header        http.Header
	ContentLength int64
	Body          string
}

// recordRequest sends a request by a transport whose connections all lead to one server, and returns what that
// server read.
func recordRequest(t *testing.T, r *http.Request, transport func(dial dialer) http.RoundTripper) (receivedRequest, error) {
	t.Helper()
	all := make(chan receivedRequest, 1)
	p := newPeer(t, func(_ *peer, conn *net.TCPConn) {
		var raw bytes.Buffer
		got, err := http.ReadRequest(bufio.NewReader(io.TeeReader(conn, &raw)))
		if err != nil {
			return
		}
		body, _ := io.ReadAll(got.Body)
		head, _, _ := strings.Cut(raw.String(), "\r\n\r\n")
		lines := strings.Split(head, "\r\n")
		slices.Sort(lines[1:])
		all <- receivedRequest{Line: lines[0], Lines: lines[1:], Host: got.Host, Header: got.Header, ContentLength: got.ContentLength, Body: string(body)}
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
	})
	var dialled string
	tr := transport(func(ctx context.Context, network, address string) (net.Conn, error) {
		dialled = address
		return new(net.Dialer).DialContext(ctx, network, p.address)
	})
	if _, err := readAll(tr, r); err != nil {
		return receivedRequest{Dialled: dialled}, err
	}
	got := <-all
	got.Dialled = dialled
	return got, nil
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func byOurs(t *testing.T) func(dialer) http.RoundTripper {
	return func(d dialer) http.RoundTripper {
		tr := newTransport(t)
		tr.Dial = d
		return tr
	}
}

func byNetHTTP(t *testing.T) func(dialer) http.RoundTripper {
	return func(d dialer) http.RoundTripper {
		tr := netHTTP(t)
		tr.DialContext = d
		return tr
	}
}

func TestRequests_ReceivedAsFromNetHTTP(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		method, url, body string
		change            func(r *http.Request)
	}{
		"a GET":                    {method: "GET", url: "http://example.com/"},
		"no method":                {url: "http://example.com/", change: func(r *http.Request) { r.Method = "" }},
		"no path":                  {method: "GET", url: "http://example.com"},
		"a POST":                   {method: "POST", url: "http://example.com/mcp", body: `{"a":1}`},
		"an empty POST":            {method: "POST", url: "http://example.com/mcp"},
		"an empty PUT":             {method: "PUT", url: "http://example.com/mcp"},
		"an empty PATCH":           {method: "PATCH", url: "http://example.com/mcp"},
		"a POST with http.NoBody":  {method: "POST", url: "http://example.com/", change: func(r *http.Request) { r.Body, r.ContentLength = http.NoBody, -1 }},
		"a GET with http.NoBody":   {method: "GET", url: "http://example.com/", change: func(r *http.Request) { r.Body = http.NoBody }},
		"a GET with a body":        {method: "GET", url: "http://example.com/", body: "x"},
		"a DELETE":                 {method: "DELETE", url: "http://example.com/mcp"},
		"a HEAD":                   {method: "HEAD", url: "http://example.com/mcp"},
		"an OPTIONS of everything": {method: "OPTIONS", url: "http://example.com", change: func(r *http.Request) { r.URL.Path = "*" }},
		"a long body":              {method: "POST", url: "http://example.com/", body: strings.Repeat("y", httpclient.MaxBody)},
		"a query":                  {method: "GET", url: "http://example.com/a?b=c&d=%20e#fragment"},
		"an empty query":           {method: "GET", url: "http://example.com/a?"},
		"an escaped path":          {method: "GET", url: "http://example.com/a%2Fb%20c/%C3%BC?x=%0d%0a"},
		"a path to escape":         {method: "GET", url: "http://example.com/", change: func(r *http.Request) { r.URL.Path = "/a b\r\nX: y/ü?" }},
		"two slashes":              {method: "GET", url: "http://example.com//other.example/x"},
		"bytes beyond ASCII in a query": {method: "GET", url: "http://example.com/", change: func(r *http.Request) {
			r.URL.RawQuery = "q=ü"
		}},
		"a port":                    {method: "GET", url: "http://example.com:8080/"},
		"the default port":          {method: "GET", url: "http://example.com:80/"},
		"an empty port":             {method: "GET", url: "http://example.com:/"},
		"an IPv4 host":              {method: "GET", url: "http://192.0.2.1/"},
		"an IPv6 host":              {method: "GET", url: "http://[2001:db8::1]/"},
		"an IPv6 host with a port":  {method: "GET", url: "http://[2001:db8::1]:8080/"},
		"a host in capitals":        {method: "GET", url: "http://EXAMPLE.com/"},
		"another Host":              {method: "GET", url: "http://192.0.2.1:8080/", change: func(r *http.Request) { r.Host = "example.com" }},
		"no Host":                   {method: "GET", url: "http://192.0.2.1:8080/", change: func(r *http.Request) { r.Host = "" }},
		"a user agent":              {method: "GET", url: "http://example.com/", change: header("User-Agent", "patchbay/1")},
		"an empty user agent":       {method: "GET", url: "http://example.com/", change: header("User-Agent", "")},
		"no user agent":             {method: "GET", url: "http://example.com/", change: header("User-Agent")},
		"two user agents":           {method: "GET", url: "http://example.com/", change: header("User-Agent", "one", "two")},
		"an encoding":               {method: "GET", url: "http://example.com/", change: header("Accept-Encoding", "identity")},
		"a range":                   {method: "GET", url: "http://example.com/", change: header("Range", "bytes=0-1")},
		"headers":                   {method: "GET", url: "http://example.com/", change: header("Authorization", "Bearer abc")},
		"many values":               {method: "GET", url: "http://example.com/", change: header("Accept", "a/b", "c/d")},
		"no values":                 {method: "GET", url: "http://example.com/", change: header("Accept")},
		"an empty value":            {method: "GET", url: "http://example.com/", change: header("X-Empty", "")},
		"blanks around a value":     {method: "GET", url: "http://example.com/", change: header("X-Blank", " \t a \t b ")},
		"bytes beyond ASCII":        {method: "GET", url: "http://example.com/", change: header("X-Odd", "\xfc ü")},
		"a name in small letters":   {method: "GET", url: "http://example.com/", change: header("x-small", "a")},
		"a Host header":             {method: "GET", url: "http://example.com/", change: header("Host", "other.example")},
		"a false length":            {method: "POST", url: "http://example.com/", body: "hello", change: header("Content-Length", "3")},
		"a false transfer encoding": {method: "POST", url: "http://example.com/", body: "hello", change: header("Transfer-Encoding", "chunked")},
		"a false trailer":           {method: "POST", url: "http://example.com/", body: "hello", change: header("Trailer", "X-Sum")},
		"a word that it may be sent twice": {method: "POST", url: "http://example.com/", body: "hello", change: func(r *http.Request) {
			r.Header["Idempotency-Key"] = nil
		}},
		"a word that it may be sent twice, with a key": {method: "POST", url: "http://example.com/", body: "hello", change: header("Idempotency-Key", "k")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			make := func() *http.Request {
				var body io.Reader
				if tc.body != "" {
					body = strings.NewReader(tc.body)
				}
				r := newRequest(t, tc.method, tc.url, body)
				if tc.change != nil {
					tc.change(r)
				}
				return r
			}
			want, err := recordRequest(t, make(), byNetHTTP(t))
			if err != nil {
				t.Fatal(err)
			}
			got, err := recordRequest(t, make(), byOurs(t))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("net/http (-) and h1 (+):\n%s", diff)
			}
		})
	}
}

// header sets a header with the name's spelling unchanged.
func header(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[name] = append([]string{}, values...) }
}

// A header, path or host chosen by others must not decide where the request ends.
func TestRequest_CannotSmuggleAnother(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *http.Request){
		"CRLF in a value":               header("X-A", "a\r\nX-B: b"),
		"LF in a value":                 header("X-A", "a\nX-B: b"),
		"CR in a value":                 header("X-A", "a\rX-B: b"),
		"NUL in a value":                header("X-A", "a\x00b"),
		"DEL in a value":                header("X-A", "a\x7fb"),
		"CRLF at a value's end":         header("X-A", "a\r\n"),
		"CRLF in a second value":        header("X-A", "a", "b\r\nX-B: b"),
		"CRLF in the user agent":        header("User-Agent", "a\r\nX-B: b"),
		"CRLF in a credential":          header("Authorization", "Bearer a\r\n\r\nGET /b HTTP/1.1\r\nHost: b"),
		"CRLF in a header that is ours": header("Content-Length", "5\r\nX-B: b"),
		"CRLF in a name":                header("X-A: a\r\nX-B", "b"),
		"a colon in a name":             header("X-A:", "b"),
		"a blank in a name":             header("X A", "b"),
		"NUL in a name":                 header("X\x00A", "b"),
		"an empty name":                 header("", "b"),
		"a name beyond ASCII":           header("X-ü", "b"),
		"CRLF in a method":              func(r *http.Request) { r.Method = "GET / HTTP/1.1\r\nX-B: b\r\n\r\nGET" },
		"a blank in a method":           func(r *http.Request) { r.Method = "GET /b" },
		"CRLF in a query":               func(r *http.Request) { r.URL.RawQuery = "a HTTP/1.1\r\nX-B: b" },
		"LF in a query":                 func(r *http.Request) { r.URL.RawQuery = "a\nX-B: b" },
		"NUL in a query":                func(r *http.Request) { r.URL.RawQuery = "a\x00" },
		"a blank in a query":            func(r *http.Request) { r.URL.RawQuery = "a HTTP/1.1" },
		"CRLF in the Host":              func(r *http.Request) { r.Host = "a\r\nX-B: b" },
		"NUL in the Host":               func(r *http.Request) { r.Host = "a\x00b" },
		"a blank in the Host":           func(r *http.Request) { r.Host = "a b" },
		"a slash in the Host":           func(r *http.Request) { r.Host = "a/b" },
		"a user in the Host":            func(r *http.Request) { r.Host = "u@b" },
		"CRLF in the URL's host":        func(r *http.Request) { r.Host, r.URL.Host = "", "a\r\nX-B: b" },
		"a blank in the URL's host":     func(r *http.Request) { r.Host, r.URL.Host = "", "a b" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, respondWith(helloResponse))
			r := newRequest(t, http.MethodPost, p.url, strings.NewReader("hello"))
			watched := &closeCounter{Reader: r.Body}
			r.Body = watched
			change(r)
			if body, err := readAll(newTransport(t), r); err == nil || errors.Is(err, errNotOurs) {
				t.Errorf("%q, %v, want it refused", body, err)
			}
			if p.connections.Load() != 0 || !watched.closed {
				t.Errorf("%d connections, body closed: %t", p.connections.Load(), watched.closed)
			}
		})
	}
}

// A RawPath that does not match Path is ignored.
func TestRequest_EscapesPath(t *testing.T) {
	t.Parallel()
	r := newRequest(t, http.MethodGet, "http://example.com/", nil)
	r.URL.Path, r.URL.RawPath = "/a", "/a HTTP/1.1\r\nX-B: b"
	got, err := recordRequest(t, r, byOurs(t))
	if err != nil || got.Line != "GET /a HTTP/1.1" || got.Header.Get("X-B") != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// net/http sends names as they are spelled, and recognizes the framing headers by their canonical form only.
func TestFramingHeaders_IgnoredInAnyCase(t *testing.T) {
	t.Parallel()
	r := newRequest(t, http.MethodPost, "http://example.com/", strings.NewReader("hello"))
	r.Header["content-length"] = []string{"3"}
	r.Header["TRANSFER-ENCODING"] = []string{"chunked"}
	r.Header["host"] = []string{"other.example"}
	got, err := recordRequest(t, r, byOurs(t))
	if err != nil || got.Host != "example.com" || got.Body != "hello" || got.ContentLength != 5 {
		t.Errorf("%+v, %v", got, err)
	}
}

type closeCounter struct {
	io.Reader
	closed bool
	err    error
}

func (c *closeCounter) Close() error {
	c.closed = true
	return c.err
}

var errBody = errors.New("no more of this body")

func TestRequest_WithWrongLengthIsNotSent(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		body   *closeCounter
		length int64
		is     error
	}{
		"too short":   {body: &closeCounter{Reader: strings.NewReader("hello")}, length: 6},
		"empty":       {body: &closeCounter{Reader: strings.NewReader("")}, length: 6},
		"too long":    {body: &closeCounter{Reader: strings.NewReader("hello")}, length: 4},
		"broken":      {body: &closeCounter{Reader: io.MultiReader(strings.NewReader("he"), broken{})}, length: 5, is: errBody},
		"not closing": {body: &closeCounter{Reader: strings.NewReader("hello"), err: errBody}, length: 5, is: errBody},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, respondWith(helloResponse))
			r := newRequest(t, http.MethodPost, p.url, nil)
			r.Body, r.ContentLength = tc.body, tc.length
			_, err := readAll(newTransport(t), r)
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("error = %v, want %v", err, tc.is)
			}
			if p.requests.Load() != 0 || !tc.body.closed {
				t.Errorf("%d requests, body closed: %t", p.requests.Load(), tc.body.closed)
			}
		})
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBody }

func TestTransport_DelegatesUnusualRequests(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *http.Request) *http.Request{
		"TLS":            withChange(func(r *http.Request) { r.URL.Scheme = "https" }),
		"another scheme": withChange(func(r *http.Request) { r.URL.Scheme = "ftp" }),
		"no URL":         withChange(func(r *http.Request) { r.URL = nil }),
		"an opaque URL": withChange(func(r *http.Request) {
			r.URL = &url.URL{Scheme: "http", Opaque: "//example.com/x", Host: "example.com"}
		}),
		"no host":                  withChange(func(r *http.Request) { r.URL.Host = "" }),
		"an international host":    withChange(func(r *http.Request) { r.URL.Host = "bücher.example" }),
		"an international Host":    withChange(func(r *http.Request) { r.Host = "bücher.example" }),
		"a zone":                   withChange(func(r *http.Request) { r.URL.Host = "[fe80::1%eth0]" }),
		"a body of unknown length": withChange(func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("x")), -1 }),
		"a body and no length":     withChange(func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("x")), 0 }),
		"a length and no body":     withChange(func(r *http.Request) { r.Body, r.ContentLength = nil, 5 }),
		"a body that is too long":  withChange(func(r *http.Request) { r.ContentLength = httpclient.MaxBody + 1 }),
		"CONNECT":                  withChange(func(r *http.Request) { r.Method = http.MethodConnect }),
		"Connection: close":        withChange(func(r *http.Request) { r.Close = true }),
		"a Connection header":      withChange(header("Connection", "x")),
		"an upgrade":               withChange(header("Upgrade", "websocket")),
		"an expectation":           withChange(header("Expect", "100-continue")),
		"a transfer encoding":      withChange(func(r *http.Request) { r.TransferEncoding = []string{"chunked"} }),
		"a trailer":                withChange(func(r *http.Request) { r.Trailer = http.Header{"X-Sum": nil} }),
		"somebody who looks closer": func(r *http.Request) *http.Request {
			return r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTransport(t)
			tr.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, io.ErrNoProgress }
			r := change(newRequest(t, http.MethodPost, "http://example.com/", strings.NewReader("hello")))
			if resp, err := tr.RoundTrip(r); !errors.Is(err, errNotOurs) {
				t.Errorf("%v, %v", resp, err)
			}
		})
	}
}

func withChange(change func(r *http.Request)) func(*http.Request) *http.Request {
	return func(r *http.Request) *http.Request {
		change(r)
		return r
	}
}
