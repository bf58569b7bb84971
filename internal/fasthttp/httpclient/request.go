package httpclient

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

// maxPooled bounds a pooled buffer, in bytes.
const maxPooled = 16 << 10

var requestBuffers = bufferPool{p: sync.Pool{New: func() any { return new([]byte) }}}

type bufferPool struct{ p sync.Pool }

func (p *bufferPool) Get() *[]byte {
	b, _ := p.p.Get().(*[]byte) // the pool has no other type
	*b = (*b)[:0]
	return b
}

// Put returns a buffer. It is cleared, because it held credentials.
func (p *bufferPool) Put(b *[]byte) {
	if cap(*b) > maxPooled {
		return
	}
	clear(*b)
	p.p.Put(b)
}

// encodeRequest encodes a request for the wire (RFC 9112 section 3). The caller returns the buffer to
// requestBuffers.
func encodeRequest(r *http.Request) (*[]byte, error) {
	out := requestBuffers.Get()
	var err error
	if *out, err = appendHead(*out, r); err != nil {
		requestBuffers.Put(out)
		return nil, errors.Join(err, closeBody(r))
	}
	if *out, err = appendBody(*out, r); err != nil {
		requestBuffers.Put(out)
		return nil, err
	}
	return out, nil
}

// appendHead appends the request line and the fields.
func appendHead(b []byte, r *http.Request) ([]byte, error) {
	target := r.URL.RequestURI()
	if err := checkRequestLine(r, target); err != nil {
		return b, err
	}
	b = append(b, requestMethod(r)...)
	b = append(b, ' ')
	b = append(b, target...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, requestHost(r)...)
	b = append(b, "\r\n"...)
	if _, named := r.Header["User-Agent"]; !named {
		b = append(b, "User-Agent: Go-http-client/1.1\r\n"...)
	}
	for name, values := range r.Header {
		if err := checkHeader(name, values); err != nil {
			return b, err
		}
		if !isFramingHeader(name) {
			b = appendHeader(b, name, values)
		}
	}
	if addsGzip(r) {
		b = append(b, "Accept-Encoding: gzip\r\n"...)
	}
	if n := bodyLength(r); n > 0 || r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, n, 10)
		b = append(b, "\r\n"...)
	}
	return append(b, "\r\n"...), nil
}

// appendBody reads the request's body, appends it and closes it. It fails unless the body is as long as
// ContentLength.
func appendBody(b []byte, r *http.Request) ([]byte, error) {
	if bodyLength(r) == 0 {
		return b, nil
	}
	from := len(b)
	b = slices.Grow(b, int(r.ContentLength)+1)[:from+int(r.ContentLength)+1] // one more byte, to detect a longer body
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

// bodyLength is the body's length in bytes.
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

// appendHeader appends a field, with a line per value. User-Agent has one value, or is omitted if empty.
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

// isFramingHeader reports whether the transport sets the field itself. Names are compared without case: else a
// "content-length" of the caller would make two lengths.
func isFramingHeader(name string) bool {
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

// checkRequestLine rejects a request line and a Host that a server could read as another request, with
// net/http's errors. target is the request target.
func checkRequestLine(r *http.Request, target string) error {
	if !httpguts.ValidHeaderFieldName(requestMethod(r)) {
		return fmt.Errorf("net/http: invalid method %q", r.Method)
	}
	if !httpguts.ValidHostHeader(requestHost(r)) {
		return fmt.Errorf("http: invalid Host header")
	}
	if strings.ContainsFunc(target, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return fmt.Errorf("net/http: can't write control character in Request.URL")
	}
	return nil
}

// checkHeader rejects a field that a server could read as another, or as several.
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

func requestMethod(r *http.Request) string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

func requestHost(r *http.Request) string {
	if r.Host != "" {
		return r.Host
	}
	return r.URL.Host
}

// addsGzip reports whether the transport requests and decodes gzip.
func addsGzip(r *http.Request) bool {
	return r.Header["Accept-Encoding"] == nil && r.Header["Range"] == nil && r.Method != http.MethodHead
}

// isRepeatable reports whether a request may be sent twice, by the rules of net/http: an Idempotency-Key
// without a value counts, and is not sent.
func isRepeatable(r *http.Request) bool {
	switch requestMethod(r) {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	_, key := r.Header["Idempotency-Key"]
	_, xkey := r.Header["X-Idempotency-Key"]
	return key || xkey
}

// dialAddress is host:port of a URL.
func dialAddress(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return strings.TrimSuffix(u.Host, ":") + ":80"
}
