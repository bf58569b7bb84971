package fastpath

import (
	"errors"
	"io"
	"time"
)

// body is a request's body.
type body struct {
	c      *conn
	left   int64
	until  time.Time // zero: as long as Options.Stall for each read
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
	until := b.until
	if until.IsZero() {
		until = time.Now().Add(b.c.s.o.Stall)
	}
	b.timed = true
	_ = b.c.net.SetReadDeadline(until)
	n, err := b.c.net.Read(p)
	if n == 0 {
		if b.failed = err; err == nil || errors.Is(err, io.EOF) {
			b.failed = errBodyCut
		}
	}
	return n
}

// Close leaves the rest to whoever drains it.
func (b *body) Close() error { return nil }

// drain reads what nobody wanted, so that the next request is found behind it; false: it does not come.
func (b *body) drain() bool {
	if b.left == 0 {
		return true
	}
	if b.until.IsZero() {
		b.until = time.Now().Add(b.c.s.o.Stall)
	}
	_, err := io.Copy(io.Discard, b)
	return err == nil
}
