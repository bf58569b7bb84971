package churn

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// state is what an act leaves of a connector. It is never changed.
type state struct {
	exists, enabled bool
	slug            string
	tools           map[string]tool         // that a sync has found
	grants          map[int]map[string]bool // by agents' numbers: the tools that were granted; nil: all
}

// tool is a tool as Patchbay knows it: an agent is served the accepted version.
type tool struct {
	accepted string // empty: none was accepted yet
	current  string // as the last sync found it
}

func (s state) clone() state {
	s.tools, s.grants = maps.Clone(s.tools), maps.Clone(s.grants)
	return s
}

// listed are the tools that an agent sees, by the names that it knows them by, each with its version.
func (s state) listed(agent int) map[string]string {
	granted, is := s.grants[agent]
	if !s.exists || !s.enabled || !is {
		return nil
	}
	listed := map[string]string{}
	for name, t := range s.tools {
		if t.accepted != "" && (granted == nil || granted[name]) {
			listed[exposed(s.slug, name)] = t.accepted
		}
	}
	return listed
}

func exposed(slug, tool string) string { return "mcp_" + slug + "__" + tool }

// slot is a place for a connector: when the connector is deleted, another takes the place. Its slug begins with the slot's.
type slot struct {
	name   string // as slugs begin
	server *server

	made int // connectors and names that the slot has had; of its admin alone

	mu      sync.Mutex // guards what follows
	journal []entry
	unknown bool // an act had no clear end: nothing of the slot is judged any more
}

// entry is a state, and when it may have been the one.
type entry struct {
	state
	began time.Time // of the act that leads to it
	ended time.Time // of the act that leads to the next one; zero: none has ended
}

func newSlot(n int) *slot {
	name := fmt.Sprintf("s%d-", n)
	return &slot{name: name, server: newServer(name, n%2 == 1), journal: []entry{{state: state{grants: map[int]map[string]bool{}}}}}
}

// now is the latest state. Only the slot's admin acts on it.
func (s *slot) now() state {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal[len(s.journal)-1].state
}

// begin notes that an act begins that leads to a state.
func (s *slot) begin(to state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal = append(s.journal, entry{state: to, began: time.Now()})
}

// kept is for how long a state stands in the journal that is none any more: longer than any request and delay.
const kept = 2 * time.Minute

// end notes that the act was answered.
func (s *slot) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.journal[len(s.journal)-2].ended = now
	old := slices.IndexFunc(s.journal, func(e entry) bool { return e.ended.IsZero() || now.Sub(e.ended) < kept })
	s.journal = slices.Delete(s.journal, 0, old)
}

// lose notes that the act had no clear end.
func (s *slot) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unknown = true
}

// possible are the states that may have been the one at some time from a moment to another. judged is false where nobody can say.
func (s *slot) possible(from, to time.Time) (states []state, judged bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.journal {
		if !e.began.After(to) && (e.ended.IsZero() || !e.ended.Before(from)) {
			states = append(states, e.state)
		}
	}
	return states, !s.unknown
}
