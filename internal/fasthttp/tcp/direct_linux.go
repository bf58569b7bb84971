//go:build linux && (amd64 || arm64) && !race

package tcp

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"
)

// WrapConn returns a connection over the same socket. It returns any other connection than TCP unchanged. So does
// the build with the race detector, which needs net's reads and writes to see their order.
func WrapConn(c net.Conn) net.Conn {
	tcpConn, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := tcpConn.SyscallConn()
	if err != nil {
		return c
	}
	d := &rawConn{TCPConn: tcpConn, raw: raw}
	d.in.transfer, d.in.writeThenWait, d.out.transfer, d.out.writeVector, d.out.writeVectorOnce = d.in.readOnce, d.in.askOnce, d.out.writeAll, d.out.writev, d.out.tryWritev
	return d
}

// rawConn reads and writes with its own system calls. All else is the TCPConn's.
type rawConn struct {
	*net.TCPConn
	raw     syscall.RawConn
	in, out direction
}

// ErrNotIdle means that data or an end arrived before the request was written.
var ErrNotIdle = errors.New("the other end has spoken, or left")

// direction is reading or writing. A read or a write locks mu.
type direction struct {
	mu     sync.Mutex
	buf    []byte
	iovecs []syscall.Iovec
	count  int
	asked  bool // askOnce has written
	err    error

	transfer        func(fd uintptr) (over bool) // method values, allocated once
	writeThenWait   func(fd uintptr) (over bool)
	writeVector     func(fd uintptr) (over bool)
	writeVectorOnce func(fd uintptr) (over bool)
}

// Read waits for data.
func (c *rawConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return c.TCPConn.Read(p)
	}
	h := &c.in
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf = p
	err := h.runPoller(c.raw.Read, h.transfer)
	h.buf = nil
	switch {
	case err != nil:
		return 0, c.toOpError("read", err)
	case h.count == 0:
		return 0, io.EOF
	}
	return h.count, nil
}

// WriteIfIdle writes p if the connection is silent, and waits for data. The caller must not read or write at the same
// time. If data has arrived before, or the connection has ended, WriteIfIdle writes nothing and fails with [ErrNotIdle].
//
// The peek before the write replaces a read after it that would find nothing: the poller reports any data that
// arrives after the peek.
func (c *rawConn) WriteIfIdle(p []byte) (n int, err error) {
	n, err = c.askLocked(p)
	switch {
	case err != nil:
		return n, c.toOpError("write", err)
	case n < len(p): // the send buffer was full
		rest, err := c.Write(p[n:])
		return n + rest, err
	}
	return n, nil
}

// askLocked locks c.in. The caller writes what did not fit into the send buffer.
func (c *rawConn) askLocked(p []byte) (n int, err error) {
	h := &c.in
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf, h.asked = p, false
	err = h.runPoller(c.raw.Read, h.writeThenWait)
	n, h.buf = h.count, nil
	return n, err
}

// Write writes all of p.
func (c *rawConn) Write(p []byte) (int, error) {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	return c.writeLocked(p)
}

// writeLocked needs c.out.mu.
func (c *rawConn) writeLocked(p []byte) (int, error) {
	if len(p) == 0 {
		return c.TCPConn.Write(p)
	}
	h := &c.out
	h.buf = p
	err := h.runPoller(c.raw.Write, h.transfer)
	h.buf = nil
	if err != nil {
		err = c.toOpError("write", err)
	}
	return h.count, err
}

// WriteBuffers writes all of bufs, in one system call if the send buffer has room.
func (c *rawConn) WriteBuffers(bufs net.Buffers) error {
	h := &c.out
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.setIovecs(bufs) {
		return nil
	}
	err := h.runPoller(c.raw.Write, h.writeVector)
	clear(h.iovecs)
	if err != nil {
		return c.toOpError("write", err)
	}
	done := h.count
	for _, b := range bufs {
		skip := min(done, len(b))
		if done -= skip; skip < len(b) {
			if _, err := c.writeLocked(b[skip:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// TryWriteBuffers writes as much of bufs as fits in the send buffer, in one system call, without waiting. It may write
// less than all, or nothing.
func (c *rawConn) TryWriteBuffers(bufs net.Buffers) (n int64, err error) {
	h := &c.out
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.setIovecs(bufs) {
		return 0, nil
	}
	err = h.runPoller(c.raw.Write, h.writeVectorOnce)
	clear(h.iovecs)
	if err != nil {
		return 0, c.toOpError("write", err)
	}
	return int64(h.count), nil
}

// setIovecs points iovecs to the first buffers. It returns false if they are empty.
func (h *direction) setIovecs(bufs net.Buffers) bool {
	h.iovecs = h.iovecs[:0]
	for _, b := range bufs[:min(len(bufs), maxIovecs)] {
		if len(b) > 0 {
			h.iovecs = append(h.iovecs, syscall.Iovec{Base: &b[0]})
			h.iovecs[len(h.iovecs)-1].SetLen(len(b))
		}
	}
	return len(h.iovecs) > 0
}

// maxIovecs bounds the buffers of one system call.
const maxIovecs = 64

// runPoller makes the poller call step until it returns true.
func (h *direction) runPoller(poll func(func(fd uintptr) bool) error, step func(fd uintptr) bool) error {
	h.count, h.err = 0, nil
	if err := poll(step); err != nil {
		return err
	}
	return h.err
}

// toOpError wraps an error as net does.
func (c *rawConn) toOpError(what string, err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return &net.OpError{Op: what, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

// readOnce returns false if there is no data yet.
func (h *direction) readOnce(fd uintptr) bool {
	return h.callNonblocking("read", syscall.SYS_READ, fd, unsafe.Pointer(&h.buf[0]), len(h.buf))
}

// askOnce returns false once all is written. The poller calls it again when data arrives.
func (h *direction) askOnce(fd uintptr) bool {
	if h.asked {
		return true
	}
	h.asked = true
	if !errors.Is(Peek(fd), syscall.EAGAIN) {
		h.err = ErrNotIdle
		return true
	}
	return !h.writeAll(fd) || h.err != nil
}

// writeAll returns false while the send buffer is full.
func (h *direction) writeAll(fd uintptr) bool {
	for h.count < len(h.buf) {
		if !h.callNonblocking("write", syscall.SYS_WRITE, fd, unsafe.Pointer(&h.buf[h.count]), len(h.buf)-h.count) {
			return false
		}
		if h.err != nil {
			return true
		}
	}
	return true
}

// writev returns false if the send buffer is full.
func (h *direction) writev(fd uintptr) bool {
	return h.callNonblocking("writev", syscall.SYS_WRITEV, fd, unsafe.Pointer(&h.iovecs[0]), len(h.iovecs))
}

// tryWritev writes what fits.
func (h *direction) tryWritev(fd uintptr) bool {
	h.writev(fd)
	return true
}

// callNonblocking makes a system call on n bytes or iovecs. It returns false for EAGAIN.
func (h *direction) callNonblocking(name string, number, fd uintptr, of unsafe.Pointer, n int) bool {
	for {
		done, _, errno := syscall.RawSyscall(number, fd, uintptr(of), uintptr(n))
		switch errno {
		case 0:
			h.count += int(done)
			return true
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			h.err = os.NewSyscallError(name, errno)
			return true
		}
	}
}

// Peek peeks at a socket without waiting. It returns EAGAIN if there is no data.
func Peek(fd uintptr) error {
	var one [1]byte
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&one[0])), 1, syscall.MSG_PEEK|syscall.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// IsPeerClosed reports whether the peer has closed its side, or the connection is broken, and no data is left to read.
func IsPeerClosed(fd uintptr) bool {
	var one [1]byte
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&one[0])), 1, syscall.MSG_PEEK|syscall.MSG_DONTWAIT, 0, 0)
	return errno == 0 && n == 0 || errno != 0 && errno != syscall.EAGAIN && errno != syscall.EINTR
}
