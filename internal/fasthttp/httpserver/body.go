package httpserver

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// requestBody is the body of a request whose length is known.
type requestBody struct {
	c               *conn
	remaining       int64
	deadline        time.Time // zero: the handler has set none
	hasConnDeadline bool      // a read deadline is set on the connection
	err             error
}

var errBodyCut = errors.New("the connection ended before the request's body did")

// Read returns io.EOF together with the last bytes.
func (b *requestBody) Read(p []byte) (int, error) {
	switch {
	case b.err != nil:
		return 0, b.err
	case b.remaining == 0:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	p = p[:min(int64(len(p)), b.remaining)]
	n := copy(p, b.c.buf[b.c.bufStart:b.c.bufEnd])
	b.c.bufStart += n
	if n == 0 {
		if n = b.readConn(p); n == 0 {
			return 0, b.err
		}
	}
	if b.remaining -= int64(n); b.remaining > 0 {
		return n, nil
	}
	if b.hasConnDeadline {
		b.hasConnDeadline = false
		_ = b.c.net.SetReadDeadline(time.Time{})
	}
	return n, io.EOF
}

// readConn reads from the connection once the buffer is empty. It returns 0 after a failure, which is in b.err.
func (b *requestBody) readConn(p []byte) int {
	b.setDefaultDeadline()
	b.hasConnDeadline = true
	_ = b.c.net.SetReadDeadline(b.deadline)
	n, err := b.c.net.Read(p)
	if n == 0 {
		if b.err = err; err == nil || errors.Is(err, io.EOF) {
			b.err = errBodyCut
		}
	}
	return n
}

// setDefaultDeadline bounds the whole body where the handler has set no deadline.
func (b *requestBody) setDefaultDeadline() {
	if b.deadline.IsZero() {
		b.deadline = time.Now().Add(b.c.server.options.StallTimeout + time.Duration(b.remaining>>17)*time.Second)
	}
}

// Close does nothing: discardRest reads the rest.
func (b *requestBody) Close() error { return nil }

// maxDrained is how much of an unread body is discarded, in bytes. For more it is cheaper to close the
// connection.
const maxDrained = 256 << 10

// discardRest reads the unread rest, behind which the next request begins. It returns false if the rest is too
// long or does not come.
func (b *requestBody) discardRest() bool {
	if b.remaining == 0 {
		return true
	}
	if b.remaining > maxDrained {
		return false
	}
	_, err := io.Copy(io.Discard, b)
	return err == nil
}

// markClosed fails further reads of a handler that kept the body: the next bytes belong to another request.
func (b *requestBody) markClosed() { b.err = http.ErrBodyReadAfterClose }
