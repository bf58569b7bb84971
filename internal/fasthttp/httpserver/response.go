package httpserver

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// maxBuffered is how many bytes of a response are buffered before they are sent. Shorter writes are copied.
	maxBuffered = 4 << 10
	// maxReusedBuffer bounds a buffer that the connection keeps for its next response, in bytes.
	maxReusedBuffer = 16 << 10
)

// responseWriter writes one response. Only its deadlines may be used by more than one goroutine.
type responseWriter struct {
	c            *conn
	requestBody  *requestBody
	header       http.Header
	status       int  // 0: not set yet
	wroteHead    bool // the head is queued or sent
	closesConn   bool // the connection closes after the response
	chunked      bool
	hijacked     bool // by the handler
	corked       bool
	clientCloses bool  // the client asked for Connection: close
	remaining    int64 // of the promised Content-Length; -1: none was promised
	err          error
	lastCopy     int // where in copied the last of out begins; -1: it is no copy

	responseBuffers
	deadline writeDeadline
}

// responseBuffers are reused by one response of a connection after the other.
type responseBuffers struct {
	head    []byte
	copied  []byte      // copies of short writes
	pending []byte      // written while the length is unknown
	out     net.Buffers // queued for sending
}

// startResponse prepares w for a request and takes the connection's buffers.
func (w *responseWriter) startResponse(c *conn, body *requestBody, clientCloses bool) {
	w.c, w.deadline.c, w.requestBody, w.clientCloses = c, c, body, clientCloses
	w.header, w.remaining, w.lastCopy = make(http.Header, 8), -1, -1
	w.responseBuffers, c.buffers = c.buffers, responseBuffers{}
}

// returnBuffers returns the buffers to the connection, but for long ones.
func (w *responseWriter) returnBuffers() {
	b := &w.responseBuffers
	clear(b.out)
	b.head, b.copied, b.pending, b.out = b.head[:0], b.copied[:0], b.pending[:0], b.out[:0]
	for _, long := range []*[]byte{&b.head, &b.copied, &b.pending} {
		if cap(*long) > maxReusedBuffer {
			*long = nil
		}
	}
	w.c.buffers, w.responseBuffers = w.responseBuffers, responseBuffers{}
}

// Header is the header that WriteHeader sends.
func (w *responseWriter) Header() http.Header { return w.header }

// WriteHeader sets the status. Interim responses (1xx) are dropped: no plain request expects one.
func (w *responseWriter) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
		w.readContentLength()
	}
}

// readContentLength reads the Content-Length that the handler has set.
func (w *responseWriter) readContentLength() {
	set := w.header["Content-Length"]
	if len(set) == 0 {
		return
	}
	n, err := strconv.ParseInt(set[0], 10, 64)
	if err != nil || n < 0 || len(set) > 1 {
		delete(w.header, "Content-Length")
		return
	}
	w.remaining = n
}

// Write sends p or buffers it.
func (w *responseWriter) Write(p []byte) (int, error) {
	switch {
	case w.hijacked:
		return 0, http.ErrHijacked
	case w.status == 0:
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case w.err != nil:
		return 0, w.err
	case !bodyAllowed(w.status):
		return 0, http.ErrBodyNotAllowed
	case len(p) == 0:
		return 0, nil
	case w.remaining >= 0 && int64(len(p)) > w.remaining:
		return 0, http.ErrContentLength
	}
	if w.remaining >= 0 {
		w.remaining -= int64(len(p))
		w.writeHead(p)
		w.queueBytes(p)
		return len(p), w.sendIfFull()
	}
	if w.wroteHead {
		w.addChunk(p)
		return len(p), w.sendIfFull()
	}
	if len(w.pending)+len(p) <= maxBuffered {
		w.pending = append(w.pending, p...)
		return len(p), nil
	}
	w.startChunked(p)
	w.addChunk(p)
	return len(p), w.sendIfFull()
}

// startChunked starts a chunked response. p is the part of the body behind what is pending.
func (w *responseWriter) startChunked(p []byte) {
	w.chunked = true
	if len(w.pending) == 0 {
		w.writeHead(p)
		return
	}
	w.writeHead(w.pending)
	w.addChunk(w.pending)
	w.pending = w.pending[:0]
}

// addChunk queues a chunk (RFC 9112 section 7.1).
func (w *responseWriter) addChunk(p []byte) {
	w.queueBytes(append(strconv.AppendInt(make([]byte, 0, 18), int64(len(p)), 16), "\r\n"...))
	w.queueBytes(p)
	w.queueBytes(crlf)
}

var (
	crlf      = []byte("\r\n")
	lastChunk = []byte("0\r\n\r\n")
)

// queueBytes queues p. A long p is not copied: it must not change until it was sent, which is before Write
// returns, or at Uncork.
func (w *responseWriter) queueBytes(p []byte) {
	if len(p) > maxBuffered {
		w.out, w.lastCopy = append(w.out, p), -1
		return
	}
	w.queueCopy(p)
}

// queueCopy queues a copy of p, joined to the last of out if that is a copy.
func (w *responseWriter) queueCopy(p []byte) {
	switch {
	case len(p) == 0:
	case w.lastCopy < 0:
		w.lastCopy = len(w.copied)
		w.copied = append(w.copied, p...)
		w.out = append(w.out, w.copied[w.lastCopy:])
	default:
		w.copied = append(w.copied, p...)
		w.out[len(w.out)-1] = w.copied[w.lastCopy:]
	}
}

// sendIfFull sends the queue once it is long.
func (w *responseWriter) sendIfFull() error {
	if w.corked {
		return nil
	}
	if w.lastCopy >= 0 && len(w.out) == 1 && len(w.copied) <= maxBuffered {
		return nil
	}
	return w.sendQueued()
}

// sendQueued sends the queue.
func (w *responseWriter) sendQueued() error {
	if w.err != nil || len(w.out) == 0 {
		return w.err
	}
	w.err = w.deadline.write(w.c.net, w.out)
	clear(w.out)
	w.out, w.copied, w.lastCopy = w.out[:0], w.copied[:0], -1
	return w.err
}

// FlushError is for [http.ResponseController].
func (w *responseWriter) FlushError() error {
	switch {
	case w.hijacked:
		return http.ErrHijacked
	case w.status == 0:
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case w.wroteHead:
	case w.remaining >= 0 || !bodyAllowed(w.status):
		w.writeHead(nil)
	default:
		w.startChunked(nil)
	}
	if w.corked {
		return w.err
	}
	return w.sendQueued()
}

// Flush is FlushError without the error.
func (w *responseWriter) Flush() { _ = w.FlushError() }

// Cork queues further writes, so that they are sent together. Their bytes must not change until
// [responseWriter.Uncork].
func (w *responseWriter) Cork() { w.corked = true }

// Uncork sends the queue and ends Cork.
func (w *responseWriter) Uncork() error {
	w.corked = false
	return w.sendQueued()
}

// finishResponse completes the response after the handler returned.
func (w *responseWriter) finishResponse() error {
	w.corked = false
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.wroteHead {
		if w.remaining < 0 && bodyAllowed(w.status) {
			w.header["Content-Length"] = []string{strconv.Itoa(len(w.pending))}
			w.remaining = 0
		}
		w.writeHead(w.pending)
		w.queueBytes(w.pending)
	} else if w.chunked {
		w.queueBytes(lastChunk)
	}
	if w.remaining > 0 && bodyAllowed(w.status) {
		w.closesConn = true // the body is shorter than promised: only the end of the connection shows it
	}
	err := w.sendQueued()
	w.deadline.detachConn()
	w.err = errResponseFinished
	w.returnBuffers()
	return err
}

// errResponseFinished is for writes after the handler returned.
var errResponseFinished = errors.New("the reply has ended")

// ClientDisconnected reports whether the client has closed its side, or the connection is broken: sooner than the request's
// context ends.
func (w *responseWriter) ClientDisconnected() bool { return w.c.isDisconnected() }

// errHijackTooLate is for Hijack after the head was written.
var errHijackTooLate = errors.New("the connection cannot be taken: the reply has begun")

// Hijack hands the connection to the handler.
func (w *responseWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c := w.c
	switch {
	case w.hijacked:
		return nil, nil, http.ErrHijacked
	case w.wroteHead:
		return nil, nil, errHijackTooLate
	}
	w.hijacked = true
	w.deadline.detachConn()
	c.setPhase(closed)
	c.requestCtx.Store(nil)
	netConn := c.net
	if rest := bytes.TrimLeft(c.buf[c.bufStart:c.bufEnd], "\r\n"); len(rest) > 0 {
		netConn = &prefixedConn{Conn: netConn, prefix: bytes.Clone(rest)}
	}
	c.buf, c.bufStart, c.bufEnd, c.lines = nil, 0, 0, lineCache{}
	w.requestBody.err = http.ErrHijacked
	const minBuffer = 16 // as small as possible: the handler reads and writes the connection itself
	return netConn, bufio.NewReadWriter(bufio.NewReaderSize(netConn, minBuffer), bufio.NewWriterSize(netConn, minBuffer)), nil
}

// SetReadDeadline bounds the reading of the request's body.
func (w *responseWriter) SetReadDeadline(t time.Time) error {
	w.requestBody.deadline = t
	if w.requestBody.hasConnDeadline {
		return w.c.net.SetReadDeadline(t)
	}
	return nil
}

// SetWriteDeadline bounds the writing of the response. Another goroutine may call it during a write.
func (w *responseWriter) SetWriteDeadline(t time.Time) error { return w.deadline.set(t) }

// EnableFullDuplex is for [http.ResponseController]. The body may always be read while the response is written.
func (w *responseWriter) EnableFullDuplex() error { return nil }

func bodyAllowed(status int) bool {
	return status >= http.StatusOK && status != http.StatusNoContent && status != http.StatusNotModified
}

// writeDeadline is the deadline of writes. It is set on the connection only while a write blocks.
type writeDeadline struct {
	mu        sync.Mutex
	c         *conn
	explicit  time.Time
	isWriting bool
}

// detachConn makes later calls of set do nothing.
func (d *writeDeadline) detachConn() {
	d.mu.Lock()
	d.c = nil
	d.mu.Unlock()
}

func (d *writeDeadline) set(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.explicit = t
	if d.c != nil && d.isWriting {
		return d.c.net.SetWriteDeadline(d.effectiveDeadline())
	}
	return nil
}

// effectiveDeadline is the handler's deadline, or else now plus StallTimeout. d.mu must be locked.
func (d *writeDeadline) effectiveDeadline() time.Time {
	if d.explicit.IsZero() {
		return time.Now().Add(d.c.server.options.StallTimeout)
	}
	return d.explicit
}

// write writes bufs, which it consumes.
func (d *writeDeadline) write(to net.Conn, bufs net.Buffers) error {
	if now, ok := to.(interface {
		TryWriteBuffers(bufs net.Buffers) (int64, error)
	}); ok {
		n, err := now.TryWriteBuffers(bufs)
		if err != nil {
			return err
		}
		if bufs = skipBytes(bufs, n); len(bufs) == 0 {
			return nil
		}
	}
	err := d.beginWrite(to)
	if errors.Is(err, errResponseFinished) {
		return err
	}
	if err == nil {
		err = writeBuffers(to, bufs)
	}
	d.mu.Lock()
	d.isWriting = false
	d.mu.Unlock()
	return errors.Join(err, to.SetWriteDeadline(time.Time{}))
}

// beginWrite sets the deadline on the connection. It fails with errResponseFinished after the end of the response.
func (d *writeDeadline) beginWrite(to net.Conn) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.c == nil {
		return errResponseFinished
	}
	d.isWriting = true
	return to.SetWriteDeadline(d.effectiveDeadline())
}

// skipBytes returns bufs without their first n bytes.
func skipBytes(bufs net.Buffers, n int64) net.Buffers {
	for len(bufs) > 0 && n >= int64(len(bufs[0])) {
		n -= int64(len(bufs[0]))
		bufs = bufs[1:]
	}
	if n > 0 {
		bufs[0] = bufs[0][n:]
	}
	return bufs
}
