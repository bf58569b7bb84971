package httpserver

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"patchbay/internal/fasthttp/contexts"
	"patchbay/internal/safe"
)

// conn is one connection. One goroutine serves it.
type conn struct {
	server     *Server
	net        net.Conn
	raw        syscall.RawConn // nil: the socket cannot be inspected
	state      atomicState
	shard      *connShard
	ctx        context.Context // parent of the contexts of all its requests
	remoteAddr string

	buf          []byte // buf[bufStart:bufEnd] was read and is not used yet
	bufStart     int
	bufEnd       int
	checkedBytes int             // bytes of the next head, from bufStart, known to be plain lines
	skippedBytes int             // line ends skipped before the next head
	hasResponded bool            // at least one response was sent
	lines        lineCache       // of the last head
	buffers      responseBuffers // reused by one response after the other

	lastClientCheck uint32                           // tick of the sweeper's last check of the client; used by the sweeper alone
	requestCtx      atomic.Pointer[contexts.Context] // of the request being served; nil: none is
}

// atomicState is changed by the connection's goroutine and by the sweeper.
type atomicState struct{ v atomic.Uint64 }

func (w *atomicState) Load() connState   { return connState(w.v.Load()) }
func (w *atomicState) store(s connState) { w.v.Store(uint64(s)) }
func (w *atomicState) compareAndSwap(from, to connState) bool {
	return w.v.CompareAndSwap(uint64(from), uint64(to))
}
func (c *conn) setPhase(p phase) { c.state.store(newConnState(p, c.server.clock.Load())) }
func (c *conn) changePhase(from connState, p phase) bool {
	return c.state.compareAndSwap(from, newConnState(p, c.server.clock.Load()))
}

func newConn(s *Server, netConn net.Conn, shard *connShard) *conn {
	c := &conn{server: s, net: netConn, raw: toRawConn(netConn), shard: shard, remoteAddr: netConn.RemoteAddr().String()}
	c.ctx = context.WithValue(context.Background(), http.LocalAddrContextKey, netConn.LocalAddr())
	c.setPhase(accepted)
	return c
}

// serve serves one request after the other, as long as they are plain.
func (c *conn) serve() {
	defer c.server.removeConn(c)
	defer c.recoverPanic()
	c.buf = make([]byte, maxHeadBytes)
	for {
		v, ok := c.nextRequest()
		switch {
		case v == nil && !ok:
			_ = c.net.Close()
			return
		case v == nil:
			c.handOverToNetHTTP()
			return
		}
		if !c.serveRequest(v) {
			return
		}
	}
}

// recoverPanic closes a connection after a panic outside of the handler.
func (c *conn) recoverPanic() {
	if v := recover(); v != nil {
		_ = safe.CaughtBy(c.server.options.Log, safe.Connection, v)
		c.setPhase(closed)
		c.closeNow()
	}
}

// nextRequest waits for a request. It returns nil, true for one that is not plain, and nil, false when the
// connection is to be closed.
func (c *conn) nextRequest() (req *requestState, ok bool) {
	for {
		c.skipLineEnds()
		if n := findHeadLength(c.buf[c.bufStart:c.bufEnd]); n > 0 {
			c.checkedBytes, c.skippedBytes = 0, 0
			return c.parseHead(n)
		}
		if c.bufEnd-c.bufStart == len(c.buf) || !c.checkLines() {
			return nil, true
		}
		if c.bufStart > 0 {
			c.bufEnd = copy(c.buf, c.buf[c.bufStart:c.bufEnd])
			c.bufStart = 0
		}
		if c.bufEnd > 0 && !c.startReading() {
			return nil, false
		}
		n, err := c.net.Read(c.buf[c.bufEnd:])
		c.bufEnd += n
		if n == 0 || err != nil && !errors.Is(err, io.EOF) {
			return nil, c.bufEnd > 0 && err != nil && !isTimeoutOrClosed(err) // net/http answers half a request
		}
	}
}

// skipLineEnds skips at most 4 bytes of line ends before a head, across reads. Some clients send them after the
// body of a POST (RFC 9112 section 2.2). net/http skips as many.
func (c *conn) skipLineEnds() {
	const maxSkipped = 4
	for c.hasResponded && c.checkedBytes == 0 && c.skippedBytes < maxSkipped && c.bufStart < c.bufEnd && (c.buf[c.bufStart] == '\r' || c.buf[c.bufStart] == '\n') {
		c.bufStart++
		c.skippedBytes++
	}
}

// checkLines reports whether the part of a head read so far can become a plain head. Any other goes to net/http
// at once, which may answer before a plain head would be complete.
func (c *conn) checkLines() bool {
	n, ok := scanPlainLines(c.buf[c.bufStart+c.checkedBytes:c.bufEnd], c.checkedBytes == 0)
	c.checkedBytes += n
	return ok
}

func isTimeoutOrClosed(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout() || errors.Is(err, net.ErrClosed)
}

// startReading marks that a part of a head arrived. It returns false if the sweeper has closed the connection.
func (c *conn) startReading() bool {
	old := c.state.Load()
	switch old.phase() {
	case reading:
		return true
	case closed:
		return false
	default:
		return c.changePhase(old, reading)
	}
}

// parseHead parses the head of n bytes.
func (c *conn) parseHead(n int) (*requestState, bool) {
	old := c.state.Load()
	if old.phase() == closed {
		return nil, false
	}
	req := new(requestState)
	if !req.head.parse(c.buf[c.bufStart:c.bufStart+n], &c.lines, c.server.options.Accepts) {
		return nil, true
	}
	if !c.changePhase(old, handling) {
		return nil, false
	}
	c.bufStart += n
	return req, true
}

// handOverToNetHTTP hands the connection to net/http.
func (c *conn) handOverToNetHTTP() {
	old := c.state.Load()
	if old.phase() == closed || !c.changePhase(old, closed) {
		_ = c.net.Close()
		return
	}
	c.server.fallback.deliverConn(c.net, c.buf[c.bufStart:c.bufEnd])
}

// requestState is one request and its response in one allocation. It is never reused, so handlers may keep any
// of it. The request's context is allocated apart, since goroutines that outlive the request may keep it.
type requestState struct {
	head     requestHead
	body     requestBody
	response responseWriter
}

// serveRequest calls the handler and finishes the response. It returns false if the connection was hijacked or
// closed.
func (c *conn) serveRequest(req *requestState) bool {
	ctx := new(contexts.Context)
	ctx.Init(c.ctx)
	defer ctx.Cancel(nil)
	c.requestCtx.Store(ctx) // for the sweeper, which ends it when the client disconnects
	b, w := &req.body, &req.response
	b.c, b.remaining = c, req.head.contentLength
	w.startResponse(c, b, req.head.wantsClose)
	well := c.callHandler(w, req.httpRequest(ctx, c))
	c.requestCtx.Store(nil)
	ctx.Cancel(nil)
	switch {
	case w.hijacked:
		return false
	case !well:
		w.deadline.detachConn()
		c.setPhase(closed)
		_ = c.net.Close()
		return false
	}
	well = w.finishResponse() == nil && !w.closesConn && !c.server.closing.Load() && b.discardRest()
	b.markClosed()
	if !well {
		c.setPhase(closed)
		c.closeLingering(b)
		return false
	}
	c.hasResponded = true
	c.setPhase(idle)
	return true
}

// httpRequest returns the request for handlers.
func (v *requestState) httpRequest(ctx context.Context, c *conn) *http.Request {
	r := &v.head.request
	*r = *r.WithContext(ctx)
	r.RemoteAddr, r.Body = c.remoteAddr, &v.body
	if v.body.remaining == 0 {
		r.Body = http.NoBody
	}
	return r
}

// callHandler calls the handler. It returns false after a panic.
func (c *conn) callHandler(w *responseWriter, r *http.Request) (ok bool) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		ok = false
		if v != http.ErrAbortHandler { //nolint:errorlint // compared as net/http compares it
			_ = safe.CaughtBy(c.server.options.Log, safe.Handler, v)
		}
	}()
	c.server.options.Handler.ServeHTTP(w, r)
	return true
}

// cancelRequest ends the context of the request being served.
func (c *conn) cancelRequest() {
	if life := c.requestCtx.Load(); life != nil {
		life.Cancel(nil)
	}
}

// closeNow cancels the request being served and closes the connection.
func (c *conn) closeNow() {
	c.cancelRequest()
	_ = c.net.Close()
}

// lingerTimeout bounds the reading after the last response while the client may still send. Data that arrives
// at a closed socket makes the client's kernel discard the response (RFC 9112 section 9.6).
const lingerTimeout = 500 * time.Millisecond

// closeLingering closes the connection after the last response.
func (c *conn) closeLingering(b *requestBody) {
	if half, ok := c.net.(interface{ CloseWrite() error }); ok && b.remaining > 0 && half.CloseWrite() == nil {
		_ = c.net.SetReadDeadline(time.Now().Add(lingerTimeout))
		_, _ = io.Copy(io.Discard, c.net)
	}
	_ = c.net.Close()
}
