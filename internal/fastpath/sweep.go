package fastpath

import (
	"maps"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"patchbay/internal/socket"
)

const (
	// tick is how often some of the connections are looked at. What timers and a goroutine of each request would cost is spent once for
	// all of them, at the price that a client which has gone, or is too slow, is noticed by so much later.
	tick = 50 * time.Millisecond
	// shelves are the parts that connections are kept in, one of which is looked at for what has lasted too long with each tick: so
	// nobody waits long for a lock, and the time of 50 000 idle connections is asked a fraction of a second later at the latest.
	shelves = 16
	// seldom bounds how rarely a request's client is looked after: the longer it lasts, the later its end matters.
	seldom = time.Second
	// freshFor is how long a connection on which nothing was asked yet is left open when the server ends: a request may be on its way.
	freshFor = 5 * time.Second
)

// shelf is a part of the connections.
type shelf struct {
	mu    sync.Mutex
	conns map[*conn]struct{}
}

func (s *shelf) all() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.conns))
}

// sweep looks at the connections until the server has ended, and the last of them.
func (s *Server) sweep() {
	beat := time.NewTicker(tick)
	defer beat.Stop()
	var some []*conn
	for turn := 0; ; turn++ {
		select {
		case <-beat.C:
		case <-s.none:
			return
		}
		s.clock.Store(s.now())
		s.expire(&s.shelves[turn%shelves])
		for i := range s.shelves {
			some = s.shelves[i].answering(some[:0])
			for _, c := range some {
				c.lookAfter()
			}
		}
		clear(some)
	}
}

// now is the time in ticks.
func (s *Server) now() uint32 { return uint32(time.Since(s.began) / tick) } //nolint:gosec // after six years it begins anew, as ages are counted

// expire ends the connections of a shelf whose time is over.
func (s *Server) expire(of *shelf) {
	now, closing := s.clock.Load(), s.closing.Load()
	for _, c := range of.all() {
		was := c.state.Load()
		age := was.age(now)
		switch was.phase() {
		case fresh:
			if age > s.o.ReadHeaderTimeout || closing && age > freshFor {
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
		}
	}
}

// answering appends the connections of a shelf that have been answered for a tick.
func (s *shelf) answering(some []*conn) []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if was := c.state.Load(); was.phase() == answering && was.age(c.s.clock.Load()) >= tick {
			some = append(some, c)
		}
	}
	return some
}

// lookAfter ends the request of a client that has gone. The sweeper alone calls it.
func (c *conn) lookAfter() {
	now, was := c.s.clock.Load(), c.state.Load()
	age := was.age(now)
	if was.phase() != answering || age > tick && stateOf(answering, c.looked).age(now) < min(age/4, seldom) {
		return
	}
	if c.looked = now; c.gone() {
		c.cancel()
	}
}

// state is what a connection is doing, and since when.
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

func (s state) phase() phase { return phase(s >> 32) }

// age is how long it has been so; 0 where it began after now was read.
func (s state) age(now uint32) time.Duration {
	return time.Duration(max(0, int32(now-uint32(s)))) * tick //nolint:gosec // the difference is what counts
}

// expire ends a connection that is still as it was seen.
func (c *conn) expire(was state) {
	if c.state.change(was, stateOf(closed, uint32(was))) { //nolint:gosec // the lower half
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
