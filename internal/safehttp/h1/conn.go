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

	"patchbay/internal/safe"
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
	net    net.Conn
	raw    syscall.RawConn // nil: nobody can look at it, so that it is used once
	asker  asker           // nil: the look at a kept connection and the writing are two things
	in     *bufio.Reader   // nil: it is idle
	owner  *Transport
	slot   slot
	since  time.Time             // when it was last put on the shelf; zero: never
	strike func()                // ends what is under way; made once, as peek is
	peek   func(fd uintptr) bool // sets peeked
	peeked error

	last  lines // of the head before
	left  int64 // how many bytes may be read
	sent  bool  // some of this request went out
	began bool  // some of this response came in
}

// asker looks whether a connection is silent, as one that was kept must be, writes, and waits for what comes, all in one. Where it is not
// silent, it fails, and has written nothing.
type asker interface {
	Ask(p []byte) (n int, err error)
}

func (t *Transport) newConn(made net.Conn, at slot) *conn {
	c := &conn{net: made, slot: at, owner: t, strike: func() { _ = made.SetDeadline(longAgo) }}
	if s, ok := made.(syscall.Conn); ok {
		c.raw, _ = s.SyscallConn()
	}
	c.asker, _ = made.(asker)
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

// kept tells whether it served a request before.
func (c *conn) kept() bool { return !c.since.IsZero() }

// wasClosed tells whether an exchange failed because the server had closed this connection while it was idle, so that the request
// goes out on another.
func (c *conn) wasClosed(r *http.Request) bool {
	return c.kept() && !c.began && (!c.sent || mayRepeat(r))
}

// exchange sends a request and reads the head of its response, whose body gives the connection back. A connection that failed, or panicked,
// is closed.
func (c *conn) exchange(r *http.Request, out []byte) (*http.Response, error) {
	ctx := r.Context()
	c.sent, c.began, c.left = false, false, c.owner.MaxHeaderBytes
	stop, asked := afterFunc(ctx, c.strike), false
	defer func() {
		if !asked {
			stop()
			_ = c.net.Close()
		}
	}()
	a, err := c.ask(r, out)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	asked = true
	c.left = math.MaxInt64
	a.body.conn, a.body.ctx, a.body.stop = c, ctx, stop
	a.body.keep = !a.Close && a.StatusCode >= http.StatusOK
	a.hand()
	return a.Response, nil
}

// afterFunc is context.AfterFunc, done by the context itself where it can.
func afterFunc(ctx context.Context, do func()) (stop func() bool) {
	if c, ok := ctx.(interface {
		AfterFunc(do func()) (stop func() bool)
	}); ok {
		return c.AfterFunc(do)
	}
	return context.AfterFunc(ctx, safe.Func(safe.Timer, do))
}

// answer is a response before it has its body.
type answer struct {
	*http.Response
	body *body
}

// hand gives the response its body.
func (a answer) hand() {
	switch {
	case a.StatusCode == http.StatusSwitchingProtocols: // nobody asked for that
		a.body.end()
		a.Body = http.NoBody
	case a.Body == http.NoBody:
		a.body.end()
	case isGzip(a.Header) && asksForGzip(a.Request):
		unzip(a.Response, a.body)
	default:
		a.Body = a.body
	}
}

// ask writes the request and reads the head of the response.
func (c *conn) ask(r *http.Request, out []byte) (answer, error) {
	write := c.net.Write
	if c.kept() && c.asker != nil {
		write = c.asker.Ask
	}
	n, err := write(out)
	c.sent = n > 0
	switch {
	case err == nil:
		return c.head(r)
	case r.Context().Err() != nil:
		return answer{}, err
	case !c.sent && c.kept(): // its last words would be about no request of ours
		return answer{}, err
	}
	return c.lastWords(r, err)
}

// lastWords reads the response of a server that takes no more of a request.
func (c *conn) lastWords(r *http.Request, failed error) (answer, error) {
	_ = c.net.SetReadDeadline(time.Now().Add(lastWords))
	a, err := c.head(r)
	if err != nil {
		return answer{}, failed
	}
	a.Close = true
	_ = c.net.SetReadDeadline(time.Time{})
	if r.Context().Err() != nil { // it may have struck before, and strikes once
		_ = c.net.SetReadDeadline(longAgo)
	}
	return a, nil
}

// head reads a response up to its body, past the interim ones.
func (c *conn) head(r *http.Request) (answer, error) {
	for range 1 + maxInterim {
		a, err := c.read(r)
		switch {
		case err != nil && !c.began && errors.Is(err, io.EOF):
			return answer{}, fmt.Errorf("the server closed the connection before it answered: %w", io.EOF)
		case err != nil:
			return answer{}, fmt.Errorf("read the response: %w", err)
		case a.StatusCode/100 != 1 || a.StatusCode == http.StatusSwitchingProtocols:
			return a, nil
		}
	}
	return answer{}, errInterim
}

// read reads one response up to its body: by itself where that is plain, and otherwise by net/http, which finds every byte of it.
func (c *conn) read(r *http.Request) (answer, error) {
	if _, err := c.in.Peek(1); err != nil {
		if c.began && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return answer{}, err
	}
	if p := readPlain(c.in, r, &c.last); p != nil {
		return answer{&p.response, &p.body}, nil
	}
	resp, err := http.ReadResponse(c.in, r) //nolint:bodyclose // it is the body's source
	if err != nil {
		return answer{}, err
	}
	return answer{resp, &body{src: resp.Body, chunked: resp.TransferEncoding != nil}}, nil
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
