package fastpath

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
	// mostGathered is how much of a reply is kept until there is more, it is flushed, or it ends; and what is shorter is copied.
	mostGathered = 4 << 10
	// mostKeptBuffer is how long a buffer is kept for the connection's next reply.
	mostKeptBuffer = 16 << 10
)

// reply is what a request is answered. One goroutine at a time uses it, but for the deadlines.
type reply struct {
	c       *conn
	asked   *body // of the request
	header  http.Header
	status  int  // 0: none yet
	headed  bool // the head is among what is to be sent, or was sent
	close   bool // the connection ends behind it
	chunked bool
	taken   bool // the handler has the connection
	holding bool
	last    bool  // the client wants it so
	left    int64 // of the length that was promised; -1: none was
	failed  error
	copies  int // where in buf the last of out begins; -1: it is no copy

	buffers
	deadline deadline
}

// buffers are a connection's, for one reply after the other.
type buffers struct {
	line []byte      // the head
	buf  []byte      // copies of what is to be sent
	body []byte      // what was written while nobody knows how long it will be
	out  net.Buffers // what is to be sent
}

// begin begins the reply to a request, with the connection's buffers.
func (w *reply) begin(c *conn, asked *body, last bool) {
	w.c, w.deadline.c, w.asked, w.last = c, c, asked, last
	w.header, w.left, w.copies = make(http.Header, 8), -1, -1
	w.buffers, c.buffers = c.buffers, buffers{}
}

// giveBack leaves the buffers to the next reply, but long ones.
func (w *reply) giveBack() {
	b := &w.buffers
	clear(b.out)
	b.line, b.buf, b.body, b.out = b.line[:0], b.buf[:0], b.body[:0], b.out[:0]
	for _, long := range []*[]byte{&b.line, &b.buf, &b.body} {
		if cap(*long) > mostKeptBuffer {
			*long = nil
		}
	}
	w.c.buffers, w.buffers = w.buffers, buffers{}
}

// Header is what WriteHeader sends.
func (w *reply) Header() http.Header { return w.header }

// WriteHeader sets the status. Interim ones are not sent: nobody waits for them, since no plain request expects any.
func (w *reply) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
		w.promise()
	}
}

// promise reads which length the handler has set.
func (w *reply) promise() {
	set := w.header["Content-Length"]
	if len(set) == 0 {
		return
	}
	n, err := strconv.ParseInt(set[0], 10, 64)
	if err != nil || n < 0 || len(set) > 1 {
		delete(w.header, "Content-Length")
		return
	}
	w.left = n
}

// Write sends, or gathers.
func (w *reply) Write(p []byte) (int, error) {
	switch {
	case w.taken:
		return 0, http.ErrHijacked
	case w.status == 0:
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case w.failed != nil:
		return 0, w.failed
	case !bodyAllowed(w.status):
		return 0, http.ErrBodyNotAllowed
	case len(p) == 0:
		return 0, nil
	case w.left >= 0 && int64(len(p)) > w.left:
		return 0, http.ErrContentLength
	}
	if w.left >= 0 {
		w.left -= int64(len(p))
		w.head(p)
		w.add(p)
		return len(p), w.full()
	}
	if w.headed {
		w.chunk(p)
		return len(p), w.full()
	}
	if len(w.body)+len(p) <= mostGathered {
		w.body = append(w.body, p...)
		return len(p), nil
	}
	w.begun(p)
	w.chunk(p)
	return len(p), w.full()
}

// begun begins a reply whose length nobody knows. p is what comes behind what was gathered.
func (w *reply) begun(p []byte) {
	w.chunked = true
	if len(w.body) == 0 {
		w.head(p)
		return
	}
	w.head(w.body)
	w.chunk(w.body)
	w.body = w.body[:0]
}

// chunk adds a chunk (RFC 9112 §7.1).
func (w *reply) chunk(p []byte) {
	w.add(append(strconv.AppendInt(make([]byte, 0, 18), int64(len(p)), 16), "\r\n"...))
	w.add(p)
	w.add(crlf)
}

var (
	crlf      = []byte("\r\n")
	lastChunk = []byte("0\r\n\r\n")
)

// add adds what is to be sent. What is long stays where it is until it was sent: before Write returns, or while it is held.
func (w *reply) add(p []byte) {
	if len(p) > mostGathered {
		w.out, w.copies = append(w.out, p), -1
		return
	}
	w.copy(p)
}

// copy adds a copy, behind the one before where that is the last.
func (w *reply) copy(p []byte) {
	switch {
	case len(p) == 0:
	case w.copies < 0:
		w.copies = len(w.buf)
		w.buf = append(w.buf, p...)
		w.out = append(w.out, w.buf[w.copies:])
	default:
		w.buf = append(w.buf, p...)
		w.out[len(w.out)-1] = w.buf[w.copies:]
	}
}

// full sends what was gathered, where it is much.
func (w *reply) full() error {
	if w.holding {
		return nil
	}
	if w.copies >= 0 && len(w.out) == 1 && len(w.buf) <= mostGathered {
		return nil
	}
	return w.send()
}

// send sends everything that there is.
func (w *reply) send() error {
	if w.failed != nil || len(w.out) == 0 {
		return w.failed
	}
	w.failed = w.deadline.write(w.c.net, w.out)
	clear(w.out)
	w.out, w.buf, w.copies = w.out[:0], w.buf[:0], -1
	return w.failed
}

// FlushError is for [http.ResponseController].
func (w *reply) FlushError() error {
	switch {
	case w.taken:
		return http.ErrHijacked
	case w.status == 0:
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case w.headed:
	case w.left >= 0 || !bodyAllowed(w.status):
		w.head(nil)
	default:
		w.begun(nil)
	}
	if w.holding {
		return w.failed
	}
	return w.send()
}

// Flush is FlushError.
func (w *reply) Flush() { _ = w.FlushError() }

// Hold keeps what is written from now on, so that it leaves together. What is written must stay as it is until [reply.Let].
func (w *reply) Hold() { w.holding = true }

// Let sends what was held.
func (w *reply) Let() error {
	w.holding = false
	return w.send()
}

// finish ends the reply behind the handler.
func (w *reply) finish() error {
	w.holding = false
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.headed {
		if w.left < 0 && bodyAllowed(w.status) {
			w.header["Content-Length"] = []string{strconv.Itoa(len(w.body))}
			w.left = 0
		}
		w.head(w.body)
		w.add(w.body)
	} else if w.chunked {
		w.add(lastChunk)
	}
	if w.left > 0 && bodyAllowed(w.status) {
		w.close = true // less came than was promised, and only the end of the connection tells
	}
	err := w.send()
	w.deadline.end()
	w.failed = errOver
	w.giveBack()
	return err
}

// errOver is for handlers that write when they have returned.
var errOver = errors.New("the reply has ended")

// Gone tells whether the client has ended its side, or the connection is broken: sooner than the request's context does.
func (w *reply) Gone() bool { return w.c.gone() }

// errAgain says that a connection was taken twice, or too late.
var errAgain = errors.New("the connection cannot be taken: the reply has begun")

// Hijack gives the connection away.
func (w *reply) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c := w.c
	switch {
	case w.taken:
		return nil, nil, http.ErrHijacked
	case w.headed:
		return nil, nil, errAgain
	}
	w.taken = true
	w.deadline.end()
	c.is(closed)
	c.life.Store(nil)
	made := c.net
	if rest := bytes.TrimLeft(c.in[c.used:c.read], "\r\n"); len(rest) > 0 {
		made = &begun{Conn: made, began: bytes.Clone(rest)}
	}
	c.in, c.used, c.read, c.lines = nil, 0, 0, lines{}
	w.asked.failed = http.ErrHijacked
	const least = 16 // who takes a connection reads and writes by itself
	return made, bufio.NewReadWriter(bufio.NewReaderSize(made, least), bufio.NewWriterSize(made, least)), nil
}

// SetReadDeadline bounds the reading of the request's body.
func (w *reply) SetReadDeadline(t time.Time) error {
	w.asked.until = t
	if w.asked.timed {
		return w.c.net.SetReadDeadline(t)
	}
	return nil
}

// SetWriteDeadline bounds the writing of the reply. It may be called while somebody writes.
func (w *reply) SetWriteDeadline(t time.Time) error { return w.deadline.set(t) }

// EnableFullDuplex is for [http.ResponseController]: a body may always be read while the reply is written.
func (w *reply) EnableFullDuplex() error { return nil }

func bodyAllowed(status int) bool {
	return status >= http.StatusOK && status != http.StatusNoContent && status != http.StatusNotModified
}

// deadline is that of writing. The connection is told of it only where it has to wait.
type deadline struct {
	mu    sync.Mutex
	c     *conn
	until time.Time
	waits bool
}

// end ignores whoever sets a deadline too late.
func (d *deadline) end() {
	d.mu.Lock()
	d.c = nil
	d.mu.Unlock()
}

func (d *deadline) set(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.until = t
	if d.c != nil && d.waits {
		return d.c.net.SetWriteDeadline(d.within())
	}
	return nil
}

// within is until when somebody may wait. mu is held.
func (d *deadline) within() time.Time {
	if d.until.IsZero() {
		return time.Now().Add(d.c.s.o.Stall)
	}
	return d.until
}

// write writes bufs, and takes them apart.
func (d *deadline) write(to net.Conn, bufs net.Buffers) error {
	if now, ok := to.(interface {
		WriteNow(bufs net.Buffers) (int64, error)
	}); ok {
		n, err := now.WriteNow(bufs)
		if err != nil {
			return err
		}
		if bufs = behind(bufs, n); len(bufs) == 0 {
			return nil
		}
	}
	d.mu.Lock()
	if d.c == nil {
		d.mu.Unlock()
		return errOver
	}
	d.waits = true
	err := to.SetWriteDeadline(d.within())
	d.mu.Unlock()
	if err == nil {
		err = together(to, bufs)
	}
	d.mu.Lock()
	d.waits = false
	d.mu.Unlock()
	return errors.Join(err, to.SetWriteDeadline(time.Time{}))
}

// behind is what is left of bufs without their first n bytes.
func behind(bufs net.Buffers, n int64) net.Buffers {
	for len(bufs) > 0 && n >= int64(len(bufs[0])) {
		n -= int64(len(bufs[0]))
		bufs = bufs[1:]
	}
	if n > 0 {
		bufs[0] = bufs[0][n:]
	}
	return bufs
}
