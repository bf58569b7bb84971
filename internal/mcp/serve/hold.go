package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
)

// A short answer of net/http leaves in one write, a longer one in two or more: what fills its buffer of 4 KiB goes first. Each write of
// its own wakes the client for a part of what it waits for. So the door's connections can be held: what is written then leaves together.

const (
	// leastHeld is where an answer with its head may be longer than what net/http writes at once.
	leastHeld = 2 << 10
	// mostHeld is the longest answer that is held: of a longer one the client shall have the beginning.
	mostHeld = 256 << 10
	// heldCopied is what net/http's own buffers hold at most. They are used again at once, so that what is in them is copied. Anything
	// longer comes from who answers, and stays as it is until the connection is let go.
	heldCopied = 4 << 10
)

// Connections is a listener whose connections can be held. Without it everything works, with more writes.
func Connections(l net.Listener) net.Listener { return &heldListener{Listener: l} }

type heldListener struct{ net.Listener }

// Accept waits for a connection.
func (l *heldListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// ConnContext is for [http.Server.ConnContext]: it lets a request find its connection.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

type connKey struct{}

// holder is a connection, or a reply, that can be held.
type holder interface {
	Hold()      // keeps what is written from now on: what is long stays as it is until Let
	Let() error // writes what was held
}

// holderOf is what a reply to r can be held by: its own writer, or the connection that r came on; nil: it cannot be.
func holderOf(w http.ResponseWriter, r *http.Request) holder {
	for {
		switch own := w.(type) {
		case holder:
			return own
		case interface{ Unwrap() http.ResponseWriter }:
			w = own.Unwrap()
			continue
		}
		break
	}
	if r.ProtoMajor != 1 { // others answer several requests at a time
		return nil
	}
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		return c
	}
	return nil
}

// conn is a connection that one request at a time is answered on, by one goroutine at a time.
type conn struct {
	net.Conn
	holding bool
	held    net.Buffers
	copies  []byte // of what net/http has written
}

// CloseWrite ends this side alone: net/http does that before it closes a connection on which more is sent than it reads.
func (c *conn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// Write writes, or keeps what is to be written with the rest.
func (c *conn) Write(p []byte) (int, error) {
	if !c.holding {
		return c.Conn.Write(p)
	}
	if len(p) <= heldCopied {
		from := len(c.copies)
		c.copies = append(c.copies, p...)
		c.held = append(c.held, c.copies[from:])
	} else {
		c.held = append(c.held, p)
	}
	return len(p), nil
}

// Hold keeps what is written from now on.
func (c *conn) Hold() { c.holding = true }

// Let writes what was held.
func (c *conn) Let() error {
	c.holding = false
	held := c.held // writing takes it apart
	err := together(c.Conn, held)
	clear(c.held)
	c.held, c.copies = c.held[:0], c.copies[:0]
	return err
}

// together writes all of these at once, by the connection itself where it can.
func together(c net.Conn, held net.Buffers) error {
	if c, ok := c.(interface{ WriteTogether(bufs net.Buffers) error }); ok {
		return c.WriteTogether(held)
	}
	_, err := held.WriteTo(c)
	return err
}
