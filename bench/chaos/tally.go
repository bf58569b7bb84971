package main

import (
	"maps"
	"slices"
	"sync"
)

// tally counts what came of requests, by door and kind.
type tally struct {
	mu  sync.Mutex // guards all of it
	of  map[string]map[string]int
	odd []string // what must not have been, as sentences; the first of them
	bad map[string]int
}

func newTally() *tally { return &tally{of: map[string]map[string]int{}, bad: map[string]int{}} }

func (t *tally) count(door, kind string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of[door] == nil {
		t.of[door] = map[string]int{}
	}
	t.of[door][kind]++
}

// note is of what must not have been. It is counted, and the first of all kinds are told.
func (t *tally) note(what, sentence string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bad[what]++; t.bad[what] <= 5 {
		t.odd = append(t.odd, what+": "+sentence)
	}
}

func (t *tally) noted(what string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bad[what]
}

func (t *tally) doors() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.of))
}
