package fastpath

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// body is a request's body.
type body struct {
	c      *conn
	left   int64
	until  time.Time // zero: nobody has said
	timed  bool      // the connection has a deadline
	failed error
}

var errBodyCut = errors.New("the connection ended before the request's body did")

// Read reads. The end comes with the last bytes.
func (b *body) Read(p []byte) (int, error) {
	switch {
	case b.failed != nil:
		return 0, b.failed
	case b.left == 0:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	p = p[:min(int64(len(p)), b.left)]
	n := copy(p, b.c.in[b.c.used:b.c.read])
	b.c.used += n
	if n == 0 {
		if n = b.more(p); n == 0 {
			return 0, b.failed
		}
	}
	if b.left -= int64(n); b.left > 0 {
		return n, nil
	}
	if b.timed {
		b.timed = false
		_ = b.c.net.SetReadDeadline(time.Time{})
	}
	return n, io.EOF
}

// more waits for what has not come yet.
func (b *body) more(p []byte) int {
	b.bound()
	b.timed = true
	_ = b.c.net.SetReadDeadline(b.until)
	n, err := b.c.net.Read(p)
	if n == 0 {
		if b.failed = err; err == nil || errors.Is(err, io.EOF) {
			b.failed = errBodyCut
		}
	}
	return n
}

// bound sees to it that the whole body has an end, where the handler has not.
func (b *body) bound() {
	if b.until.IsZero() {
		b.until = time.Now().Add(b.c.s.o.Stall + time.Duration(b.left>>17)*time.Second)
	}
}

// Close leaves the rest to whoever drains it.
func (b *body) Close() error { return nil }

// mostDrained is how much is read of what nobody wanted. Where there is more, it costs less to end the connection.
const mostDrained = 256 << 10

// drain reads what nobody wanted, so that the next request is found behind it; false: it does not come, or is too much.
func (b *body) drain() bool {
	if b.left == 0 {
		return true
	}
	if b.left > mostDrained {
		return false
	}
	_, err := io.Copy(io.Discard, b)
	return err == nil
}

// end is for handlers that kept it: the connection's next bytes are another request's.
func (b *body) end() { b.failed = http.ErrBodyReadAfterClose }
