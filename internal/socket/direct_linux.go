//go:build linux && (amd64 || arm64) && !race

package socket

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"
)

// Direct is a connection over the same socket. What is no TCP connection of this system stays as it is, as does everything where races
// are looked for: the detector learns from net's own reads and writes what comes after what.
func Direct(c net.Conn) net.Conn {
	over, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := over.SyscallConn()
	if err != nil {
		return c
	}
	d := &conn{TCPConn: over, raw: raw}
	d.in.step, d.in.asks, d.out.step, d.out.many, d.out.now = d.in.read, d.in.ask, d.out.write, d.out.writeMany, d.out.writeNow
	return d
}

// conn reads and writes by itself; the rest is the connection's.
type conn struct {
	*net.TCPConn
	raw     syscall.RawConn
	in, out half
}

// ErrSpoke says that something came on a connection before anything was asked.
var ErrSpoke = errors.New("the other end has spoken, or left")

// half is one direction. Who reads, or writes, holds mu.
type half struct {
	mu   sync.Mutex
	p    []byte
	vecs []syscall.Iovec
	done int
	sent bool // by ask
	err  error

	step func(fd uintptr) (over bool) // made once, as are the others
	asks func(fd uintptr) (over bool)
	many func(fd uintptr) (over bool)
	now  func(fd uintptr) (over bool)
}

// Read waits until there is something to read.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return c.TCPConn.Read(p)
	}
	h := &c.in
	h.mu.Lock()
	defer h.mu.Unlock()
	h.p = p
	err := h.wait(c.raw.Read, h.step)
	h.p = nil
	switch {
	case err != nil:
		return 0, c.failed("read", err)
	case h.done == 0:
		return 0, io.EOF
	}
	return h.done, nil
}

// Ask writes all of p where nothing has come, and waits until something comes. Nobody else reads or writes meanwhile. Where something came
// before, or the connection has ended, nothing is written, and it fails with [ErrSpoke].
//
// The look that finds nothing stands for the read that would find nothing once p is written: from before that look on, the poller notes
// whatever comes.
func (c *conn) Ask(p []byte) (n int, err error) {
	h := &c.in
	h.mu.Lock()
	h.p, h.sent = p, false
	err = h.wait(c.raw.Read, h.asks)
	n, h.p = h.done, nil
	h.mu.Unlock()
	switch {
	case err != nil:
		return n, c.failed("write", err)
	case n < len(p): // there was no room for the rest
		rest, err := c.Write(p[n:])
		return n + rest, err
	}
	return n, nil
}

// Write writes all of p.
func (c *conn) Write(p []byte) (int, error) {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	return c.write(p)
}

// write needs the direction's mu.
func (c *conn) write(p []byte) (int, error) {
	if len(p) == 0 {
		return c.TCPConn.Write(p)
	}
	h := &c.out
	h.p = p
	err := h.wait(c.raw.Write, h.step)
	h.p = nil
	if err != nil {
		err = c.failed("write", err)
	}
	return h.done, err
}

// WriteTogether writes all of these, in one call where the socket has room.
func (c *conn) WriteTogether(bufs net.Buffers) error {
	h := &c.out
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.point(bufs) {
		return nil
	}
	err := h.wait(c.raw.Write, h.many)
	clear(h.vecs)
	if err != nil {
		return c.failed("write", err)
	}
	done := h.done
	for _, b := range bufs {
		skip := min(done, len(b))
		if done -= skip; skip < len(b) {
			if _, err := c.write(b[skip:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// WriteNow writes as much of these as there is room for, in one call, and waits for nothing: it may be less than all, or nothing.
func (c *conn) WriteNow(bufs net.Buffers) (n int64, err error) {
	h := &c.out
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.point(bufs) {
		return 0, nil
	}
	err = h.wait(c.raw.Write, h.now)
	clear(h.vecs)
	if err != nil {
		return 0, c.failed("write", err)
	}
	return int64(h.done), nil
}

// point has vecs say where the first buffers are; false: there is nothing in them.
func (h *half) point(bufs net.Buffers) bool {
	h.vecs = h.vecs[:0]
	for _, b := range bufs[:min(len(bufs), mostTogether)] {
		if len(b) > 0 {
			h.vecs = append(h.vecs, syscall.Iovec{Base: &b[0]})
			h.vecs[len(h.vecs)-1].SetLen(len(b))
		}
	}
	return len(h.vecs) > 0
}

// mostTogether is how many buffers go in one call.
const mostTogether = 64

// wait has the poller call step until it is over.
func (h *half) wait(poll func(func(fd uintptr) bool) error, step func(fd uintptr) bool) error {
	h.done, h.err = 0, nil
	if err := poll(step); err != nil {
		return err
	}
	return h.err
}

// failed is an error as net has it.
func (c *conn) failed(what string, err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return &net.OpError{Op: what, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

// read is false where there is nothing yet.
func (h *half) read(fd uintptr) bool {
	return h.call("read", syscall.SYS_READ, fd, unsafe.Pointer(&h.p[0]), len(h.p))
}

// ask is false where nothing had come, and all was written: then it is called again when there is something.
func (h *half) ask(fd uintptr) bool {
	if h.sent {
		return true
	}
	h.sent = true
	if !errors.Is(Peek(fd), syscall.EAGAIN) {
		h.err = ErrSpoke
		return true
	}
	return !h.write(fd) || h.err != nil
}

// write is false where there is no room for the rest.
func (h *half) write(fd uintptr) bool {
	for h.done < len(h.p) {
		if !h.call("write", syscall.SYS_WRITE, fd, unsafe.Pointer(&h.p[h.done]), len(h.p)-h.done) {
			return false
		}
		if h.err != nil {
			return true
		}
	}
	return true
}

// writeMany is false where there is no room for anything.
func (h *half) writeMany(fd uintptr) bool {
	return h.call("writev", syscall.SYS_WRITEV, fd, unsafe.Pointer(&h.vecs[0]), len(h.vecs))
}

// writeNow writes what there is room for.
func (h *half) writeNow(fd uintptr) bool {
	h.writeMany(fd)
	return true
}

// call makes a system call on n of something; false: not now.
func (h *half) call(name string, number, fd uintptr, of unsafe.Pointer, n int) bool {
	for {
		done, _, errno := syscall.RawSyscall(number, fd, uintptr(of), uintptr(n))
		switch errno {
		case 0:
			h.done += int(done)
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

// Peek looks at what came on a socket, without waiting: EAGAIN where there is nothing.
func Peek(fd uintptr) error {
	var one [1]byte
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&one[0])), 1, syscall.MSG_PEEK|syscall.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// Ended tells whether the other end has ended its side, or the connection is broken, and nothing is left to be read.
func Ended(fd uintptr) bool {
	var one [1]byte
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&one[0])), 1, syscall.MSG_PEEK|syscall.MSG_DONTWAIT, 0, 0)
	return errno == 0 && n == 0 || errno != 0 && errno != syscall.EAGAIN && errno != syscall.EINTR
}
