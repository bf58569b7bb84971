package h1

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/http/httpguts"
)

// maxPooled is the longest buffer that is kept for another request.
const maxPooled = 16 << 10

var buffers = pool{p: sync.Pool{New: func() any { return new([]byte) }}}

type pool struct{ p sync.Pool }

func (p *pool) Get() *[]byte {
	b, _ := p.p.Get().(*[]byte) // nothing else is in there
	*b = (*b)[:0]
	return b
}

// Put takes a buffer back. It held credentials, and holds none any more.
func (p *pool) Put(b *[]byte) {
	if cap(*b) > maxPooled {
		return
	}
	clear(*b)
	p.p.Put(b)
}

// write puts a request down as it goes over the wire (RFC 9112, section 3). The buffer goes back to buffers.
func write(r *http.Request) (*[]byte, error) {
	out := buffers.Get()
	var err error
	if *out, err = appendHead(*out, r); err != nil {
		buffers.Put(out)
		return nil, errors.Join(err, closeBody(r))
	}
	if *out, err = appendBody(*out, r); err != nil {
		buffers.Put(out)
		return nil, err
	}
	return out, nil
}

// appendHead adds all that stands before the body.
func appendHead(b []byte, r *http.Request) ([]byte, error) {
	target := r.URL.RequestURI()
	if err := check(r, target); err != nil {
		return b, err
	}
	b = append(b, method(r)...)
	b = append(b, ' ')
	b = append(b, target...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, host(r)...)
	b = append(b, "\r\n"...)
	if _, named := r.Header["User-Agent"]; !named {
		b = append(b, "User-Agent: Go-http-client/1.1\r\n"...)
	}
	for name, values := range r.Header {
		if err := checkHeader(name, values); err != nil {
			return b, err
		}
		if !isOurs(name) {
			b = appendHeader(b, name, values)
		}
	}
	if asksForGzip(r) {
		b = append(b, "Accept-Encoding: gzip\r\n"...)
	}
	if n := bodyLength(r); n > 0 || r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, n, 10)
		b = append(b, "\r\n"...)
	}
	return append(b, "\r\n"...), nil
}

// appendBody reads a request's body, which is as long as the request says, and closes it.
func appendBody(b []byte, r *http.Request) ([]byte, error) {
	if bodyLength(r) == 0 {
		return b, nil
	}
	from := len(b)
	b = slices.Grow(b, int(r.ContentLength)+1)[:from+int(r.ContentLength)+1] // one more, to see that it ends
	n, err := io.ReadFull(r.Body, b[from:])
	closed := r.Body.Close()
	switch {
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF):
		return b, fmt.Errorf("read the request's body: %w", err)
	case int64(n) != r.ContentLength:
		return b, fmt.Errorf("the request's body is not as long as its length of %d says", r.ContentLength)
	case closed != nil:
		return b, fmt.Errorf("close the request's body: %w", closed)
	}
	return b[:from+n], nil
}

// bodyLength is how long the body is, in bytes.
func bodyLength(r *http.Request) int64 {
	if r.Body == nil || r.Body == http.NoBody {
		return 0
	}
	return r.ContentLength
}

func closeBody(r *http.Request) error {
	if r.Body == nil {
		return nil
	}
	return r.Body.Close()
}

// appendHeader adds a header, with a line for each value. Of User-Agent there is one, or none where that is empty.
func appendHeader(b []byte, name string, values []string) []byte {
	if name == "User-Agent" {
		if len(values) == 0 || values[0] == "" {
			return b
		}
		values = values[:1]
	}
	for _, v := range values {
		b = append(b, name...)
		b = append(b, ": "...)
		b = append(b, textproto.TrimString(v)...)
		b = append(b, "\r\n"...)
	}
	return b
}

// isOurs tells whether a header's value follows from the request. A name that somebody wrote in small letters is no way around that: a
// server would read two lengths.
func isOurs(name string) bool {
	switch len(name) {
	case len("Host"):
		return strings.EqualFold(name, "Host")
	case len("Trailer"):
		return strings.EqualFold(name, "Trailer")
	case len("Content-Length"):
		return strings.EqualFold(name, "Content-Length")
	case len("Transfer-Encoding"):
		return strings.EqualFold(name, "Transfer-Encoding")
	}
	return false
}

// check refuses a first line and a Host that could be read as another request, in net/http's words. target is the request's second word.
func check(r *http.Request, target string) error {
	if !httpguts.ValidHeaderFieldName(method(r)) {
		return fmt.Errorf("net/http: invalid method %q", r.Method)
	}
	if !httpguts.ValidHostHeader(host(r)) {
		return fmt.Errorf("http: invalid Host header")
	}
	if strings.ContainsFunc(target, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return fmt.Errorf("net/http: can't write control character in Request.URL")
	}
	return nil
}

// checkHeader refuses a header that could be read as another, or as several.
func checkHeader(name string, values []string) error {
	if !httpguts.ValidHeaderFieldName(name) {
		return fmt.Errorf("net/http: invalid header field name %q", name)
	}
	for _, v := range values {
		if !httpguts.ValidHeaderFieldValue(v) {
			return fmt.Errorf("net/http: invalid header field value for %q", name)
		}
	}
	return nil
}

func method(r *http.Request) string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

func host(r *http.Request) string {
	if r.Host != "" {
		return r.Host
	}
	return r.URL.Host
}

// asksForGzip tells whether compression is ours to ask for and to take off.
func asksForGzip(r *http.Request) bool {
	return r.Header["Accept-Encoding"] == nil && r.Header["Range"] == nil && r.Method != http.MethodHead
}

// mayRepeat tells whether a request may be sent twice, as net/http reads it: an Idempotency-Key without a value says so, and is not
// sent.
func mayRepeat(r *http.Request) bool {
	switch method(r) {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	_, key := r.Header["Idempotency-Key"]
	_, xkey := r.Header["X-Idempotency-Key"]
	return key || xkey
}

// addressOf is host:port of a URL.
func addressOf(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return strings.TrimSuffix(u.Host, ":") + ":80"
}
