package fastpath

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"patchbay/internal/lifetime"
	"patchbay/internal/safe"
)

// conn is one connection, and the goroutine that serves it.
type conn struct {
	s     *Server
	net   net.Conn
	raw   syscall.RawConn // nil: nobody can look at it
	state watched
	on    *shelf
	ctx   context.Context // of all its requests
	from  string          // the other end

	in       []byte // what was read and not used yet stands between used and read
	used     int
	read     int
	checked  int     // bytes of the next head, from used on, that were found to be plain lines
	skipped  int     // line ends before the next head that were passed over
	answered bool    // something was
	lines    lines   // of the last head
	buffers  buffers // of one reply after the other

	looked uint32                           // when the sweeper looked whether the client was there; its own
	life   atomic.Pointer[lifetime.Context] // of the request that is being answered; nil: there is none
}

// watched is a state that the connection's goroutine and the sweeper change.
type watched struct{ v atomic.Uint64 }

func (w *watched) Load() state                { return state(w.v.Load()) }
func (w *watched) store(s state)              { w.v.Store(uint64(s)) }
func (w *watched) change(from, to state) bool { return w.v.CompareAndSwap(uint64(from), uint64(to)) }
func (c *conn) is(p phase)                    { c.state.store(stateOf(p, c.s.clock.Load())) }
func (c *conn) becomes(from state, p phase) bool {
	return c.state.change(from, stateOf(p, c.s.clock.Load()))
}

func newConn(s *Server, made net.Conn, on *shelf) *conn {
	c := &conn{s: s, net: made, raw: rawOf(made), on: on, from: made.RemoteAddr().String()}
	c.ctx = context.WithValue(context.Background(), http.LocalAddrContextKey, made.LocalAddr())
	c.is(fresh)
	return c
}

// serve answers one request after the other, as long as they are plain.
func (c *conn) serve() {
	defer c.s.forget(c)
	defer c.recovered()
	c.in = make([]byte, mostHead)
	for {
		v, ok := c.next()
		switch {
		case v == nil && !ok:
			_ = c.net.Close()
			return
		case v == nil:
			c.giveAway()
			return
		}
		if !c.answer(v) {
			return
		}
	}
}

// recovered ends a connection whose serving panicked outside of the handler, and nothing else.
func (c *conn) recovered() {
	if v := recover(); v != nil {
		_ = safe.CaughtBy(c.s.o.Log, safe.Connection, v)
		c.is(closed)
		c.cut()
	}
}

// next waits for a request. nil and true: what comes is not plain; nil and false: nothing comes.
func (c *conn) next() (v *visit, ok bool) {
	for {
		c.skipLineEnds()
		if n := endOfHead(c.in[c.used:c.read]); n > 0 {
			c.checked, c.skipped = 0, 0
			return c.parse(n)
		}
		if c.read-c.used == len(c.in) || !c.checkLines() {
			return nil, true
		}
		if c.used > 0 {
			c.read = copy(c.in, c.in[c.used:c.read])
			c.used = 0
		}
		if c.read > 0 && !c.beginReading() {
			return nil, false
		}
		n, err := c.net.Read(c.in[c.read:])
		c.read += n
		if n == 0 || err != nil && !errors.Is(err, io.EOF) {
			return nil, c.read > 0 && err != nil && !timedOut(err) // net/http says what it has to say about half a request
		}
	}
}

// skipLineEnds passes over at most 4 bytes of line ends before a head, however many reads they come in. Some clients send them behind the
// body of a POST (RFC 9112 §2.2); net/http skips as many.
func (c *conn) skipLineEnds() {
	const maxSkipped = 4
	for c.answered && c.checked == 0 && c.skipped < maxSkipped && c.used < c.read && (c.in[c.used] == '\r' || c.in[c.used] == '\n') {
		c.used++
		c.skipped++
	}
}

// checkLines reports whether the beginning of a head can still become a plain one. What cannot goes to net/http at once, which may answer
// before the bytes come that would end a plain head.
func (c *conn) checkLines() bool {
	n, ok := plainLines(c.in[c.used+c.checked:c.read], c.checked == 0)
	c.checked += n
	return ok
}

func timedOut(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout() || errors.Is(err, net.ErrClosed)
}

// beginReading says that a part of a head came; false: the sweeper has ended the connection.
func (c *conn) beginReading() bool {
	was := c.state.Load()
	switch was.phase() {
	case reading:
		return true
	case closed:
		return false
	default:
		return c.becomes(was, reading)
	}
}

// parse takes the head of n bytes.
func (c *conn) parse(n int) (*visit, bool) {
	was := c.state.Load()
	if was.phase() == closed {
		return nil, false
	}
	v := new(visit)
	if !v.head.parse(c.in[c.used:c.used+n], &c.lines, c.s.o.Takes) {
		return nil, true
	}
	if !c.becomes(was, answering) {
		return nil, false
	}
	c.used += n
	return v, true
}

// giveAway leaves the connection to net/http.
func (c *conn) giveAway() {
	was := c.state.Load()
	if was.phase() == closed || !c.becomes(was, closed) {
		_ = c.net.Close()
		return
	}
	c.s.others.give(c.net, c.in[c.used:c.read])
}

// visit is one request and what it is answered, in one piece of memory, which is nobody else's: handlers may keep any of it. The request's
// context stands alone: what a request has begun may outlast it, and keeps nothing but that.
type visit struct {
	head  head
	body  body
	reply reply
}

// answer has the handler answer a request; false: the connection is not ours any more, or closed.
func (c *conn) answer(v *visit) bool {
	life := new(lifetime.Context)
	life.Begin(c.ctx)
	defer life.End(nil)
	c.life.Store(life) // the sweeper ends a request whose client goes
	b, w := &v.body, &v.reply
	b.c, b.left = c, v.head.length
	w.begin(c, b, v.head.last)
	well := c.run(w, v.asked(life, c))
	c.life.Store(nil)
	life.End(nil)
	switch {
	case w.taken:
		return false
	case !well:
		w.deadline.end()
		c.is(closed)
		_ = c.net.Close()
		return false
	}
	well = w.finish() == nil && !w.close && !c.s.closing.Load() && b.drain()
	b.end()
	if !well {
		c.is(closed)
		c.leave(b)
		return false
	}
	c.answered = true
	c.is(idle)
	return true
}

// asked is the request as handlers see it.
func (v *visit) asked(ctx context.Context, c *conn) *http.Request {
	r := &v.head.request
	*r = *r.WithContext(ctx)
	r.RemoteAddr, r.Body = c.from, &v.body
	if v.body.left == 0 {
		r.Body = http.NoBody
	}
	return r
}

// run calls the handler; false: it panicked.
func (c *conn) run(w *reply, r *http.Request) (ok bool) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		ok = false
		if v != http.ErrAbortHandler { //nolint:errorlint // compared as net/http compares it
			_ = safe.CaughtBy(c.s.o.Log, safe.Handler, v)
		}
	}()
	c.s.o.Handler.ServeHTTP(w, r)
	return true
}

// cancel ends the request that is being answered.
func (c *conn) cancel() {
	if life := c.life.Load(); life != nil {
		life.End(nil)
	}
}

// cut ends the connection and what is under way on it.
func (c *conn) cut() {
	c.cancel()
	_ = c.net.Close()
}

// lingers is how long a connection that we end is read from, where the client may be sending: what arrives at a closed one has the answer
// thrown away before it is read (RFC 9112 §9.6).
const lingers = 500 * time.Millisecond

// leave ends the connection behind the last answer.
func (c *conn) leave(b *body) {
	if half, ok := c.net.(interface{ CloseWrite() error }); ok && b.left > 0 && half.CloseWrite() == nil {
		_ = c.net.SetReadDeadline(time.Now().Add(lingers))
		_, _ = io.Copy(io.Discard, c.net)
	}
	_ = c.net.Close()
}
