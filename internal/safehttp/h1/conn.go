package h1

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"syscall"
	"time"
)

const (
	// maxInterim bounds how many 1xx responses come before the real one.
	maxInterim = 5
	// lastWords is how long a server that takes no more of a request may take to say why.
	lastWords = 50 * time.Millisecond
)

// What can be wrong with a response.
var (
	errHeaders = errors.New("the response's headers are too long")
	errInterim = errors.New("too many interim responses")
)

var longAgo = time.Unix(1, 0)

// conn is one connection. It serves one request at a time.
type conn struct {
	net     net.Conn
	raw     syscall.RawConn // nil: nobody can look at it, so that it is used once
	in      *bufio.Reader   // nil: it is idle
	owner   *Transport
	address string
	since   time.Time             // when it was last put on the shelf; zero: never
	peek    func(fd uintptr) bool // made once, sets peeked
	peeked  error

	left  int64 // how many bytes may be read
	sent  bool  // some of this request went out
	began bool  // some of this response came in
}

func (t *Transport) newConn(made net.Conn, address string) *conn {
	c := &conn{net: made, address: address, owner: t}
	if s, ok := made.(syscall.Conn); ok {
		c.raw, _ = s.SyscallConn()
	}
	c.in = t.reader(c)
	return c
}

// reader is one that reads from c. An idle connection has none, so that what is kept for later costs no buffer.
func (t *Transport) reader(c *conn) *bufio.Reader {
	in, _ := t.readers.Get().(*bufio.Reader)
	if in == nil {
		return bufio.NewReaderSize(c, t.ReadBuffer)
	}
	in.Reset(c)
	return in
}

// Read reads at most as much as may be.
func (c *conn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errHeaders
	}
	n, err := c.net.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	c.began = c.began || n > 0
	return n, err
}

// wasClosed tells whether an exchange failed because the server had closed this connection while it was idle, so that the request
// goes out on another.
func (c *conn) wasClosed(r *http.Request) bool {
	return !c.since.IsZero() && !c.began && (!c.sent || mayRepeat(r))
}

// exchange sends a request and reads the head of its response, whose body gives the connection back. A connection that failed is
// closed.
func (c *conn) exchange(r *http.Request, out []byte) (*http.Response, error) {
	ctx := r.Context()
	c.sent, c.began, c.left = false, false, c.owner.MaxHeaderBytes
	stop := afterFunc(ctx, func() { _ = c.net.SetDeadline(longAgo) })
	resp, err := c.ask(r, out)
	if err != nil {
		stop()
		_ = c.net.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	c.left = math.MaxInt64
	c.hand(resp, &body{
		conn: c, ctx: ctx, stop: stop, src: resp.Body,
		keep: !resp.Close && resp.StatusCode >= http.StatusOK, chunked: resp.TransferEncoding != nil,
	})
	return resp, nil
}

// afterFunc is context.AfterFunc, done by the context itself where it can.
func afterFunc(ctx context.Context, do func()) (stop func() bool) {
	if c, ok := ctx.(interface {
		AfterFunc(do func()) (stop func() bool)
	}); ok {
		return c.AfterFunc(do)
	}
	return context.AfterFunc(ctx, do)
}

// hand gives a response the body b.
func (c *conn) hand(resp *http.Response, b *body) {
	switch {
	case resp.StatusCode == http.StatusSwitchingProtocols: // nobody asked for that
		b.end()
		resp.Body = http.NoBody
	case resp.Body == http.NoBody:
		b.end()
	case asksForGzip(resp.Request) && isGzip(resp.Header):
		unzip(resp, b)
	default:
		resp.Body = b
	}
}

// ask writes the request and reads the head of the response.
func (c *conn) ask(r *http.Request, out []byte) (*http.Response, error) {
	n, err := c.net.Write(out)
	c.sent = n > 0
	switch {
	case err == nil:
		return c.head(r)
	case r.Context().Err() != nil:
		return nil, err
	case !c.sent && !c.since.IsZero(): // its last words would be about no request of ours
		return nil, err
	}
	return c.lastWords(r, err)
}

// lastWords reads the response of a server that takes no more of a request.
func (c *conn) lastWords(r *http.Request, failed error) (*http.Response, error) {
	_ = c.net.SetReadDeadline(time.Now().Add(lastWords))
	resp, err := c.head(r)
	if err != nil {
		return nil, failed
	}
	resp.Close = true
	_ = c.net.SetReadDeadline(time.Time{})
	if r.Context().Err() != nil { // it may have struck before, and strikes once
		_ = c.net.SetReadDeadline(longAgo)
	}
	return resp, nil
}

// head reads a response up to its body, past the interim ones.
func (c *conn) head(r *http.Request) (*http.Response, error) {
	for range 1 + maxInterim {
		resp, err := http.ReadResponse(c.in, r)
		switch {
		case err != nil && !c.began && errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("the server closed the connection before it answered: %w", io.EOF)
		case err != nil:
			return nil, fmt.Errorf("read the response: %w", err)
		case resp.StatusCode/100 != 1 || resp.StatusCode == http.StatusSwitchingProtocols:
			return resp, nil
		}
	}
	return nil, errInterim
}

// rest keeps a connection whose exchange has ended well, where there is room.
func (c *conn) rest() {
	if c.raw == nil || c.in.Buffered() > 0 {
		_ = c.net.Close()
		return
	}
	in := c.in
	c.in = nil // before somebody else takes the connection
	if !c.owner.idle.put(c) {
		_ = c.net.Close()
	}
	in.Reset(nil)
	c.owner.readers.Put(in)
}
