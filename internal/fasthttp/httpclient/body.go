package httpclient

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// responseBody is a response's body. One goroutine reads it; any may close it.
type responseBody struct {
	conn     *conn
	ctx      context.Context
	stop     func() bool // stops interrupt on the end of ctx; false: it has run
	src      io.Reader   // the body without its framing
	reusable bool        // the connection may serve another request
	// chunked marks that some bytes on the connection are framing, so that buffered bytes need not be data.
	chunked  bool
	released atomic.Bool // the connection is returned or closed
	err      error       // of further reads
}

// Read reads the body. At its end the connection returns to the pool.
func (b *responseBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.released.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.src.Read(p)
	if err == nil {
		return n, nil
	}
	if !errors.Is(err, io.EOF) {
		b.reusable = false
		if b.ctx.Err() != nil {
			err = context.Cause(b.ctx)
		}
	}
	b.err = err
	b.releaseConn()
	return n, err
}

// Close ends the exchange. It closes the connection unless the body was read to its end.
func (b *responseBody) Close() error {
	if b.released.CompareAndSwap(false, true) {
		b.stop()
		return b.conn.net.Close()
	}
	return nil
}

// releaseConn returns the connection to the pool, or closes it.
func (b *responseBody) releaseConn() {
	if !b.released.CompareAndSwap(false, true) {
		return
	}
	if b.stop() && b.reusable {
		b.conn.returnToPool()
		return
	}
	_ = b.conn.net.Close()
}
