package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
)

// net/http sends a short response in one write, but a longer one in several: its buffer has 4 KiB. Each write
// wakes the client for an incomplete response. So connections can hold writes back and send them together.

const (
	// minHeld is the size in bytes from which net/http may need more than one write.
	minHeld = 2 << 10
	// maxHeld is the largest response that is held; of a larger one the client gets the beginning early.
	maxHeld = 256 << 10
	// maxHeldCopy is the largest write that is copied: net/http reuses its buffers of that size at once. Longer
	// slices belong to the backend and stay unchanged until Uncork.
	maxHeldCopy = 4 << 10
)

// Connections wraps a listener whose connections can hold writes. It is optional and saves writes.
func Connections(l net.Listener) net.Listener { return &corkableListener{Listener: l} }

type corkableListener struct{ net.Listener }

func (l *corkableListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// ConnContext is for [http.Server.ConnContext]: requests find their connection by it.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

type connKey struct{}

// corker is a connection or a reply that can hold writes.
type corker interface {
	Cork()         // holds further writes; long slices must stay unchanged until Uncork
	Uncork() error // writes what is held
}

// findHolder returns the holder for a reply to r: the writer itself, or r's connection; nil: none.
func findHolder(w http.ResponseWriter, r *http.Request) corker {
	for {
		switch own := w.(type) {
		case corker:
			return own
		case interface{ Unwrap() http.ResponseWriter }:
			w = own.Unwrap()
			continue
		}
		break
	}
	if r.ProtoMajor != 1 { // HTTP/2 multiplexes requests
		return nil
	}
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		return c
	}
	return nil
}

// conn is a connection that can hold writes. One goroutine at a time writes to it.
type conn struct {
	net.Conn
	corked bool
	held   net.Buffers
	copies []byte // of net/http's writes
}

// CloseWrite closes the writing side. net/http calls it before it closes a connection with unread input.
func (c *conn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// Write writes, or holds p until Uncork.
func (c *conn) Write(p []byte) (int, error) {
	if !c.corked {
		return c.Conn.Write(p)
	}
	if len(p) <= maxHeldCopy {
		from := len(c.copies)
		c.copies = append(c.copies, p...)
		c.held = append(c.held, c.copies[from:])
	} else {
		c.held = append(c.held, p)
	}
	return len(p), nil
}

// Cork holds further writes.
func (c *conn) Cork() { c.corked = true }

// Uncork writes what is held.
func (c *conn) Uncork() error {
	c.corked = false
	held := c.held // WriteTo consumes the slice
	err := writeBuffers(c.Conn, held)
	clear(c.held)
	c.held, c.copies = c.held[:0], c.copies[:0]
	return err
}

func writeBuffers(c net.Conn, held net.Buffers) error {
	if c, ok := c.(interface{ WriteBuffers(bufs net.Buffers) error }); ok {
		return c.WriteBuffers(held)
	}
	_, err := held.WriteTo(c)
	return err
}
