package main

import (
	"context"
	"fmt"
	"sync"
)

// fate is what the client knows of a call.
type fate int

const (
	hasAnswer fate = iota
	hasFailed
	wasCancelled
)

// fates counts them, and remembers the calls that failed though nothing was to go wrong with them.
type fates struct {
	mu        sync.Mutex // guards what follows
	of        [3]int64
	cut       int64   // of those that failed: the server was told to cut the reply
	resumed   int64   // of those with an answer: the server was told to cut the reply, and was asked again
	surprises []int64 // the others
}

func (f *fates) note(c soakCall, what fate) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of[what]++
	switch {
	case what == hasAnswer && c.do == doCut:
		f.resumed++
	case what != hasFailed:
	case c.do == doCut:
		f.cut++
	default:
		f.surprises = append(f.surprises, c.n)
	}
}

// compare asks the mock whether calls that failed by themselves have run: one whose session was lost twice on the way was told so, and
// must not have.
func (s *soak) compare(ctx context.Context, r *report) error {
	s.fates.mu.Lock()
	defer s.fates.mu.Unlock()
	r.answered, r.failed, r.cancelled, r.cut, r.resumed = s.fates.of[hasAnswer], s.fates.of[hasFailed], s.fates.of[wasCancelled], s.fates.cut, s.fates.resumed
	if len(s.fates.surprises) == 0 {
		return nil
	}
	var times []int
	if err := s.ask(ctx, "POST", "/seen", s.fates.surprises, &times); err != nil {
		return err
	}
	for i, n := range s.fates.surprises {
		if times[i] > 0 {
			r.untold++
			fmt.Fprintf(s.out, "call %d has run, and was told to have failed\n", n)
		}
	}
	return nil
}
