package httpclient

import (
	"sync"
	"time"

	"patchbay/internal/safe"
)

// poolKey identifies interchangeable connections: those of one partition to one address.
type poolKey struct{ partition, address string }

// idlePool has the idle connections. The last one returned is the first one reused.
type idlePool struct {
	mu    sync.Mutex
	conns map[poolKey][]*conn // the oldest first
	count int
	timer *time.Timer // nil while the pool is empty
}

func (s *idlePool) get(key poolKey) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.conns[key]
	if len(list) == 0 {
		return nil
	}
	last := len(list) - 1
	c := list[last]
	list[last] = nil
	s.conns[key] = list[:last]
	s.count--
	return c
}

// put adds a connection. It returns false if a limit is reached.
func (s *idlePool) put(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.conns[c.key]
	if s.count >= c.transport.MaxIdle || len(list) >= c.transport.MaxIdlePerHost {
		return false
	}
	if s.conns == nil {
		s.conns = make(map[poolKey][]*conn)
	}
	c.idleSince = time.Now()
	s.conns[c.key] = append(list, c)
	s.count++
	if s.timer == nil {
		s.timer = time.AfterFunc(c.transport.IdleTimeout, safe.Func(safe.Timer, func() { s.closeExpired(c.transport.IdleTimeout) }))
	}
	return true
}

// closeExpired closes connections that were idle for the timeout.
func (s *idlePool) closeExpired(timeout time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for key, list := range s.conns {
		expired := 0
		for expired < len(list) && now.Sub(list[expired].idleSince) >= timeout {
			_ = list[expired].net.Close()
			expired++
		}
		s.count -= expired
		if expired == len(list) {
			delete(s.conns, key)
			continue
		}
		kept := copy(list, list[expired:])
		clear(list[kept:])
		s.conns[key] = list[:kept]
	}
	s.timer = nil
	if s.count > 0 {
		s.timer = time.AfterFunc(timeout/4, safe.Func(safe.Timer, func() { s.closeExpired(timeout) }))
	}
}

func (s *idlePool) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range s.conns {
		for _, c := range list {
			_ = c.net.Close()
		}
	}
	s.conns, s.count = nil, 0
}
