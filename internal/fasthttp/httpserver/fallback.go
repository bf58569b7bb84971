package httpserver

import (
	"bytes"
	"net"
	"sync"
)

// fallbackListener delivers connections to net/http's server.
type fallbackListener struct {
	addr      net.Addr
	conns     chan net.Conn
	closeOnce sync.Once
	done      chan struct{}
}

func newFallbackListener(addr net.Addr) *fallbackListener {
	return &fallbackListener{addr: addr, conns: make(chan net.Conn), done: make(chan struct{})}
}

// Accept waits for the next connection.
func (o *fallbackListener) Accept() (net.Conn, error) {
	select {
	case c := <-o.conns:
		return c, nil
	case <-o.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept. It closes no connection.
func (o *fallbackListener) Close() error {
	o.closeOnce.Do(func() { close(o.done) })
	return nil
}

// Addr is the address of the original listener.
func (o *fallbackListener) Addr() net.Addr { return o.addr }

// deliverConn hands c to Accept. prefix is what was already read from it.
func (o *fallbackListener) deliverConn(c net.Conn, prefix []byte) {
	if len(prefix) > 0 {
		c = &prefixedConn{Conn: c, prefix: bytes.Clone(prefix)}
	}
	select {
	case o.conns <- c:
	case <-o.done:
		_ = c.Close()
	}
}

// prefixedConn is a connection of which prefix was already read.
type prefixedConn struct {
	net.Conn
	prefix []byte
}

// Read reads the prefix, then from the connection.
func (b *prefixedConn) Read(p []byte) (int, error) {
	if len(b.prefix) == 0 {
		return b.Conn.Read(p)
	}
	n := copy(p, b.prefix)
	if b.prefix = b.prefix[n:]; len(b.prefix) == 0 {
		b.prefix = nil
	}
	return n, nil
}

// WriteBuffers writes bufs, in one system call where the connection can.
func (b *prefixedConn) WriteBuffers(bufs net.Buffers) error { return writeBuffers(b.Conn, bufs) }

func writeBuffers(c net.Conn, bufs net.Buffers) error {
	if c, ok := c.(interface{ WriteBuffers(bufs net.Buffers) error }); ok {
		return c.WriteBuffers(bufs)
	}
	_, err := bufs.WriteTo(c)
	return err
}
