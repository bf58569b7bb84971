package h1

import (
	"sync"
	"time"

	"patchbay/internal/safe"
)

// slot is where connections are interchangeable: those of one partition to one address.
type slot struct{ partition, address string }

// shelf holds idle connections. The one that was put last is taken first.
type shelf struct {
	mu    sync.Mutex
	lists map[slot][]*conn // the oldest first
	count int
	timer *time.Timer // runs while there is anything
}

func (s *shelf) take(at slot) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.lists[at]
	if len(list) == 0 {
		return nil
	}
	last := len(list) - 1
	c := list[last]
	list[last] = nil
	s.lists[at] = list[:last]
	s.count--
	return c
}

// put keeps a connection; false: there are enough.
func (s *shelf) put(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.lists[c.slot]
	if s.count >= c.owner.MaxIdle || len(list) >= c.owner.MaxIdlePerHost {
		return false
	}
	if s.lists == nil {
		s.lists = make(map[slot][]*conn)
	}
	c.since = time.Now()
	s.lists[c.slot] = append(list, c)
	s.count++
	if s.timer == nil {
		s.timer = time.AfterFunc(c.owner.IdleTimeout, safe.Func(safe.Timer, func() { s.sweep(c.owner.IdleTimeout) }))
	}
	return true
}

// sweep closes what has been idle for too long.
func (s *shelf) sweep(timeout time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for at, list := range s.lists {
		old := 0
		for old < len(list) && now.Sub(list[old].since) >= timeout {
			_ = list[old].net.Close()
			old++
		}
		s.count -= old
		if old == len(list) {
			delete(s.lists, at)
			continue
		}
		kept := copy(list, list[old:])
		clear(list[kept:])
		s.lists[at] = list[:kept]
	}
	s.timer = nil
	if s.count > 0 {
		s.timer = time.AfterFunc(timeout/4, safe.Func(safe.Timer, func() { s.sweep(timeout) }))
	}
}

func (s *shelf) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range s.lists {
		for _, c := range list {
			_ = c.net.Close()
		}
	}
	s.lists, s.count = nil, 0
}
