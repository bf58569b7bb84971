package fastpath

import (
	"bytes"
	"net"
	"sync"
)

// others are the connections that net/http serves: a listener to it.
type others struct {
	addr  net.Addr
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newOthers(addr net.Addr) *others {
	return &others{addr: addr, conns: make(chan net.Conn), done: make(chan struct{})}
}

// Accept waits for a connection.
func (o *others) Accept() (net.Conn, error) {
	select {
	case c := <-o.conns:
		return c, nil
	case <-o.done:
		return nil, net.ErrClosed
	}
}

// Close ends it.
func (o *others) Close() error {
	o.once.Do(func() { close(o.done) })
	return nil
}

// Addr is the address of the listener that the connections came from.
func (o *others) Addr() net.Addr { return o.addr }

// give gives a connection with what was read of it already.
func (o *others) give(c net.Conn, began []byte) {
	if len(began) > 0 {
		c = &begun{Conn: c, began: bytes.Clone(began)}
	}
	select {
	case o.conns <- c:
	case <-o.done:
		_ = c.Close()
	}
}

// begun is a connection of which something was read.
type begun struct {
	net.Conn
	began []byte
}

// Read reads what was read before, then the connection.
func (b *begun) Read(p []byte) (int, error) {
	if len(b.began) == 0 {
		return b.Conn.Read(p)
	}
	n := copy(p, b.began)
	if b.began = b.began[n:]; len(b.began) == 0 {
		b.began = nil
	}
	return n, nil
}

// WriteTogether writes all of these, in one call where the connection can.
func (b *begun) WriteTogether(bufs net.Buffers) error { return together(b.Conn, bufs) }

func together(c net.Conn, bufs net.Buffers) error {
	if c, ok := c.(interface{ WriteTogether(bufs net.Buffers) error }); ok {
		return c.WriteTogether(bufs)
	}
	_, err := bufs.WriteTo(c)
	return err
}
