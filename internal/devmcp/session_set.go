package devmcp

import (
	"crypto/rand"
	"sync"
)

// maxSessions bounds the memory; the oldest session is dropped.
const maxSessions = 1000

// sessionSet holds the session ids of one endpoint.
type sessionSet struct {
	mu    sync.Mutex // guards both
	open  map[string]bool
	order []string // oldest first; may hold ended ones
}

func newSessions() *sessionSet { return &sessionSet{open: map[string]bool{}} }

func (s *sessionSet) add() string {
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

func (s *sessionSet) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

func (s *sessionSet) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}
