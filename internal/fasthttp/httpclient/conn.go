package httpclient

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
	// maxInterim bounds the 1xx responses before the final one.
	maxInterim = 5
	// lastResponseTimeout bounds the wait for a response after a failed write of the request.
	lastResponseTimeout = 50 * time.Millisecond
)

var (
	errHeaders = errors.New("the response's headers are too long")
	errInterim = errors.New("too many interim responses")
)

var expiredDeadline = time.Unix(1, 0)

// conn is one connection. It serves one request at a time.
type conn struct {
	net       net.Conn
	raw       syscall.RawConn // nil: the socket cannot be inspected, so the connection is used once
	probe     idleWriter      // nil: a reused connection is checked and written to in two system calls
	in        *bufio.Reader   // nil: the connection is idle
	transport *Transport
	key       poolKey
	idleSince time.Time             // zero: it never was idle
	interrupt func()                // fails pending reads and writes; allocated once, as is peekFD
	peekFD    func(fd uintptr) bool // sets peekErr
	peekErr   error

	lines     lineCache // of the previous head
	readLimit int64     // bytes that may still be read
	wroteAny  bool      // a part of this request was sent
	readAny   bool      // a part of this response was received
}

// idleWriter writes p, and waits for the response, if the connection is silent, as a kept one must be.
// Otherwise WriteIfIdle fails and has written nothing.
type idleWriter interface {
	WriteIfIdle(p []byte) (n int, err error)
}

func (t *Transport) newConn(netConn net.Conn, key poolKey) *conn {
	c := &conn{net: netConn, key: key, transport: t, interrupt: func() { _ = netConn.SetDeadline(expiredDeadline) }}
	if s, ok := netConn.(syscall.Conn); ok {
		c.raw, _ = s.SyscallConn()
	}
	c.probe, _ = netConn.(idleWriter)
	c.in = t.getReader(c)
	return c
}

// getReader returns a reader of c from the pool. An idle connection has none, so that it costs no buffer.
func (t *Transport) getReader(c *conn) *bufio.Reader {
	in, _ := t.readers.Get().(*bufio.Reader)
	if in == nil {
		return bufio.NewReaderSize(c, t.ReadBuffer)
	}
	in.Reset(c)
	return in
}

// Read reads at most readLimit bytes in all.
func (c *conn) Read(p []byte) (int, error) {
	if c.readLimit <= 0 {
		return 0, errHeaders
	}
	n, err := c.net.Read(p[:min(int64(len(p)), c.readLimit)])
	c.readLimit -= int64(n)
	c.readAny = c.readAny || n > 0
	return n, err
}

// isReused reports whether the connection served a request before.
func (c *conn) isReused() bool { return !c.idleSince.IsZero() }

// canRetryClosed reports whether an exchange failed because the server had closed the idle connection, and r may be
// sent on another one.
func (c *conn) canRetryClosed(r *http.Request) bool {
	return c.isReused() && !c.readAny && (!c.wroteAny || isRepeatable(r))
}

// roundTrip sends a request and reads the head of its response. The body returns the connection. After a
// failure or a panic the connection is closed.
func (c *conn) roundTrip(r *http.Request, out []byte) (*http.Response, error) {
	ctx := r.Context()
	c.wroteAny, c.readAny, c.readLimit = false, false, c.transport.MaxHeaderBytes
	stop, ok := afterFunc(ctx, c.interrupt), false
	defer func() {
		if !ok {
			stop()
			_ = c.net.Close()
		}
	}()
	a, err := c.sendRequest(r, out)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	ok = true
	c.readLimit = math.MaxInt64
	a.body.conn, a.body.ctx, a.body.stop = c, ctx, stop
	a.body.reusable = !a.Close && a.StatusCode >= http.StatusOK
	a.attachBody()
	return a.Response, nil
}

// afterFunc is context.AfterFunc, or the context's own method, which needs no goroutine.
func afterFunc(ctx context.Context, do func()) (stop func() bool) {
	if c, ok := ctx.(interface {
		AfterFunc(do func()) (stop func() bool)
	}); ok {
		return c.AfterFunc(do)
	}
	return context.AfterFunc(ctx, safe.Func(safe.Timer, do))
}

// rawResponse is a response whose Body is not set yet.
type rawResponse struct {
	*http.Response
	body *responseBody
}

// attachBody sets the response's Body.
func (a rawResponse) attachBody() {
	switch {
	case a.StatusCode == http.StatusSwitchingProtocols: // no request here asks for an upgrade
		a.body.releaseConn()
		a.Body = http.NoBody
	case a.Body == http.NoBody:
		a.body.releaseConn()
	case isGzip(a.Header) && addsGzip(a.Request):
		setGzipBody(a.Response, a.body)
	default:
		a.Body = a.body
	}
}

// sendRequest writes the request and reads the head of the response.
func (c *conn) sendRequest(r *http.Request, out []byte) (rawResponse, error) {
	write := c.net.Write
	if c.isReused() && c.probe != nil {
		write = c.probe.WriteIfIdle
	}
	n, err := write(out)
	c.wroteAny = n > 0
	switch {
	case err == nil:
		return c.readHead(r)
	case r.Context().Err() != nil:
		return rawResponse{}, err
	case !c.wroteAny && c.isReused(): // a response here would not be for this request
		return rawResponse{}, err
	}
	return c.readLastResponse(r, err)
}

// readLastResponse reads the response of a server that stopped reading the request.
func (c *conn) readLastResponse(r *http.Request, writeErr error) (rawResponse, error) {
	_ = c.net.SetReadDeadline(time.Now().Add(lastResponseTimeout))
	a, err := c.readHead(r)
	if err != nil {
		return rawResponse{}, writeErr
	}
	a.Close = true
	_ = c.net.SetReadDeadline(time.Time{})
	if r.Context().Err() != nil { // interrupt may have run before the deadline was cleared, and runs once
		_ = c.net.SetReadDeadline(expiredDeadline)
	}
	return a, nil
}

// readHead reads a response up to its body. It skips interim ones.
func (c *conn) readHead(r *http.Request) (rawResponse, error) {
	for range 1 + maxInterim {
		a, err := c.readResponse(r)
		switch {
		case err != nil && !c.readAny && errors.Is(err, io.EOF):
			return rawResponse{}, fmt.Errorf("the server closed the connection before it answered: %w", io.EOF)
		case err != nil:
			return rawResponse{}, fmt.Errorf("read the response: %w", err)
		case a.StatusCode/100 != 1 || a.StatusCode == http.StatusSwitchingProtocols:
			return a, nil
		}
	}
	return rawResponse{}, errInterim
}

// readResponse reads one response up to its body. It parses a plain one, and leaves any other to net/http with
// all of its bytes.
func (c *conn) readResponse(r *http.Request) (rawResponse, error) {
	if _, err := c.in.Peek(1); err != nil {
		if c.readAny && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return rawResponse{}, err
	}
	if p := readPlain(c.in, r, &c.lines); p != nil {
		return rawResponse{&p.response, &p.body}, nil
	}
	resp, err := http.ReadResponse(c.in, r) //nolint:bodyclose // it is the body's source
	if err != nil {
		return rawResponse{}, err
	}
	return rawResponse{resp, &responseBody{src: resp.Body, chunked: resp.TransferEncoding != nil}}, nil
}

// returnToPool keeps the connection after a complete exchange, unless the pool is full.
func (c *conn) returnToPool() {
	if c.raw == nil || c.in.Buffered() > 0 {
		_ = c.net.Close()
		return
	}
	in := c.in
	c.in = nil // before another request can get the connection
	if !c.transport.idle.put(c) {
		_ = c.net.Close()
	}
	in.Reset(nil)
	c.transport.readers.Put(in)
}
