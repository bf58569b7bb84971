package h1

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// body is a response's body. One goroutine reads it; any may close it.
type body struct {
	conn *conn
	ctx  context.Context
	stop func() bool // ends the watch over ctx; false: it has struck
	src  io.Reader   // without its framing
	keep bool        // the connection is good for another request
	// chunked says that some of what comes is framing, after which a reader may have to wait.
	chunked bool
	over    atomic.Bool // the connection is given away or closed
	done    error       // what further reads return
}

// Read reads. With the end of the body its connection is free.
func (b *body) Read(p []byte) (int, error) {
	if b.done != nil {
		return 0, b.done
	}
	if b.over.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.src.Read(p)
	if err == nil {
		return n, nil
	}
	if !errors.Is(err, io.EOF) {
		b.keep = false
		if b.ctx.Err() != nil {
			err = context.Cause(b.ctx)
		}
	}
	b.done = err
	b.end()
	return n, err
}

// Close ends the exchange. Where the body was not read to its end, the connection ends with it.
func (b *body) Close() error {
	if b.over.CompareAndSwap(false, true) {
		b.stop()
		return b.conn.net.Close()
	}
	return nil
}

// end gives the connection back.
func (b *body) end() {
	if !b.over.CompareAndSwap(false, true) {
		return
	}
	if b.stop() && b.keep {
		b.conn.rest()
		return
	}
	_ = b.conn.net.Close()
}
