package devmcp

import (
	"crypto/rand"
	"sync"
)

// maxSessions keeps clients that never say goodbye from filling the memory: the oldest session goes.
const maxSessions = 1000

// sessions are the ids that one endpoint gave out.
type sessions struct {
	mu    sync.Mutex // guards both
	open  map[string]bool
	order []string // oldest first; may hold ended ones
}

func newSessions() *sessions { return &sessions{open: map[string]bool{}} }

func (s *sessions) begin() string {
	id := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[id] = true
	s.order = append(s.order, id)
	if len(s.order) > maxSessions {
		delete(s.open, s.order[0])
		s.order = s.order[1:]
	}
	return id
}

func (s *sessions) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}
