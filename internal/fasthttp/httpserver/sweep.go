package httpserver

import (
	"maps"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"patchbay/internal/fasthttp/tcp"
)

const (
	// sweepInterval is how often connections are checked. One goroutine replaces a timer and a goroutine per
	// request. In return, a disconnected or slow client is noticed up to one interval later.
	sweepInterval = 50 * time.Millisecond
	// shardCount is the number of shards of the connections. One shard per tick is checked for timeouts: so
	// locks are short, and each connection is checked every 800 ms.
	shardCount = 16
	// maxCheckInterval bounds the interval between checks of one request's client. The interval grows with the
	// request's age.
	maxCheckInterval = time.Second
	// freshGrace is how long a connection without a request stays open when the server closes: a request may be
	// on its way.
	freshGrace = 5 * time.Second
)

// connShard is one shard of the connections.
type connShard struct {
	mu    sync.Mutex
	conns map[*conn]struct{}
}

func (s *connShard) allConns() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.conns))
}

// sweepLoop checks the connections until the server and its last connection are closed.
func (s *Server) sweepLoop() {
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	var conns []*conn
	for turn := 0; ; turn++ {
		select {
		case <-ticker.C:
		case <-s.allDone:
			return
		}
		s.clock.Store(s.currentTick())
		s.expireConns(&s.shards[turn%shardCount])
		for i := range s.shards {
			conns = s.shards[i].appendHandling(conns[:0])
			for _, c := range conns {
				c.cancelIfDisconnected()
			}
		}
		clear(conns)
	}
}

// currentTick is the time since the start in ticks.
func (s *Server) currentTick() uint32 { return uint32(time.Since(s.startedAt) / sweepInterval) } //nolint:gosec // after six years it begins anew, as ages are counted

// expireConns closes the connections of a shard that have timed out.
func (s *Server) expireConns(shard *connShard) {
	now, closing := s.clock.Load(), s.closing.Load()
	for _, c := range shard.allConns() {
		old := c.state.Load()
		age := old.age(now)
		switch old.phase() {
		case accepted:
			if age > s.options.ReadHeaderTimeout || closing && age > freshGrace {
				c.closeIfUnchanged(old)
			}
		case idle:
			if closing || age > s.options.IdleTimeout {
				c.closeIfUnchanged(old)
			}
		case reading:
			if age > s.options.ReadHeaderTimeout {
				c.closeIfUnchanged(old)
			}
		}
	}
}

// appendHandling appends the connections whose request has been served for at least a tick.
func (s *connShard) appendHandling(conns []*conn) []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if old := c.state.Load(); old.phase() == handling && old.age(c.server.clock.Load()) >= sweepInterval {
			conns = append(conns, c)
		}
	}
	return conns
}

// cancelIfDisconnected cancels the request of a client that has disconnected. Only the sweeper calls it.
func (c *conn) cancelIfDisconnected() {
	now, old := c.server.clock.Load(), c.state.Load()
	age := old.age(now)
	if old.phase() != handling || age > sweepInterval && newConnState(handling, c.lastClientCheck).age(now) < min(age/4, maxCheckInterval) {
		return
	}
	if c.lastClientCheck = now; c.isDisconnected() {
		c.cancelRequest()
	}
}

// connState is the phase of a connection and the tick of its begin.
type connState uint64

type phase uint8

const (
	accepted phase = iota // nothing was received yet
	idle                  // between two requests
	reading               // a part of a head was received
	handling              // the handler has the request
	closed
)

func newConnState(p phase, since uint32) connState { return connState(p)<<32 | connState(since) }

func (s connState) phase() phase { return phase(s >> 32) }

// age is the time in the phase, or 0 if the phase began after now.
func (s connState) age(now uint32) time.Duration {
	return time.Duration(max(0, int32(now-uint32(s)))) * sweepInterval //nolint:gosec // the difference is what counts
}

// closeIfUnchanged closes a connection that is still in the state old.
func (c *conn) closeIfUnchanged(old connState) {
	if c.state.compareAndSwap(old, newConnState(closed, uint32(old))) { //nolint:gosec // the lower half
		_ = c.net.Close()
	}
}

// isDisconnected reports whether the client has closed its side, or the connection is broken.
func (c *conn) isDisconnected() bool {
	if c.raw == nil {
		return false
	}
	ended := false
	err := c.raw.Control(func(fd uintptr) { ended = tcp.IsPeerClosed(fd) })
	return err != nil || ended
}

func toRawConn(c net.Conn) syscall.RawConn {
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
