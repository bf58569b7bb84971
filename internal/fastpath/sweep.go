package fastpath

import (
	"net"
	"syscall"
	"time"

	"patchbay/internal/socket"
)

// tick is how often connections are looked at. What a timer of each request would cost is spent once for all of them, at the price that a
// client which has gone, or is too slow, is noticed by so much later.
const tick = 50 * time.Millisecond

// freshFor is how long a connection on which nothing was asked yet is left open when the server ends: a request may be on its way.
const freshFor = 5 * time.Second

// sweep looks at the connections as long as there are any.
func (s *Server) sweep() {
	beat := time.NewTicker(tick)
	defer beat.Stop()
	for range beat.C {
		s.clock.Add(1)
		s.look()
		s.mu.Lock()
		if len(s.conns) == 0 {
			s.sweeping = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
	}
}

// look ends the connections whose time is over, and the requests of those that are gone.
func (s *Server) look() {
	for _, c := range s.left() {
		c.cancel()
	}
}

// left ends the connections whose time is over, and returns those whose clients have gone while they are answered.
func (s *Server) left() (gone []*conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, closing := s.clock.Load(), s.closing.Load()
	for c := range s.conns {
		was := c.state.Load()
		age := time.Duration(now-was.since()) * tick
		switch was.phase() {
		case fresh:
			if age > s.o.IdleTimeout || closing && age > freshFor {
				c.expire(was)
			}
		case idle:
			if closing || age > s.o.IdleTimeout {
				c.expire(was)
			}
		case reading:
			if age > s.o.ReadHeaderTimeout {
				c.expire(was)
			}
		case answering:
			if age >= tick && c.gone() {
				gone = append(gone, c)
			}
		}
	}
	return gone
}

// state is what a connection is doing, and since which look.
type state uint64

type phase uint8

const (
	fresh     phase = iota // nothing came yet
	idle                   // between two requests
	reading                // a part of a head came
	answering              // the handler has the request
	closed
)

func stateOf(p phase, since uint32) state { return state(p)<<32 | state(since) }

func (s state) phase() phase  { return phase(s >> 32) }
func (s state) since() uint32 { return uint32(s) }

// expire ends a connection that is still as it was seen.
func (c *conn) expire(was state) {
	if c.state.change(was, stateOf(closed, was.since())) {
		_ = c.net.Close()
	}
}

// gone tells whether the client has ended its side, or the connection is broken.
func (c *conn) gone() bool {
	if c.raw == nil {
		return false
	}
	ended := false
	err := c.raw.Control(func(fd uintptr) { ended = socket.Ended(fd) })
	return err != nil || ended
}

func rawOf(c net.Conn) syscall.RawConn {
	s, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}
