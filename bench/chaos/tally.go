package main

import (
	"maps"
	"slices"
	"sync"
)

// responseTally counts responses by door and kind.
type responseTally struct {
	mu       sync.Mutex // guards all fields
	byDoor   map[string]map[string]int
	problems []string // the first sentences of each kind
	bad      map[string]int
}

func newResponseTally() *responseTally {
	return &responseTally{byDoor: map[string]map[string]int{}, bad: map[string]int{}}
}

func (t *responseTally) countOutcome(door, kind string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byDoor[door] == nil {
		t.byDoor[door] = map[string]int{}
	}
	t.byDoor[door][kind]++
}

// recordProblem is of what must not have been. It is counted, and the first of all kinds are told.
func (t *responseTally) recordProblem(kind, sentence string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bad[kind]++; t.bad[kind] <= 5 {
		t.problems = append(t.problems, kind+": "+sentence)
	}
}

func (t *responseTally) problemCount(kind string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bad[kind]
}

func (t *responseTally) doorNames() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.byDoor))
}
