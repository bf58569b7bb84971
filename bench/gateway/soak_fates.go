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
	cut       []int64 // of those that failed: the server was told to cut the reply
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
		f.cut = append(f.cut, c.n)
	default:
		f.surprises = append(f.surprises, c.n)
	}
}

// compare asks the mock whether calls that failed by themselves have run: one whose session was lost twice on the way was told so, and
// must not have. That may be one whose reply was to be cut off, too.
func (s *soak) compare(ctx context.Context, r *report) error {
	s.fates.mu.Lock()
	defer s.fates.mu.Unlock()
	r.answered, r.failed, r.cancelled, r.resumed = s.fates.of[hasAnswer], s.fates.of[hasFailed], s.fates.of[wasCancelled], s.fates.resumed
	cut, err := s.haveRun(ctx, s.fates.cut)
	if err != nil {
		return err
	}
	r.cut = int64(len(cut))
	surprises, err := s.haveRun(ctx, s.fates.surprises)
	r.untold = int64(len(surprises))
	for _, n := range surprises {
		fmt.Fprintf(s.out, "call %d has run, and was told to have failed\n", n)
	}
	return err
}

// haveRun are those of some calls that the mock has seen.
func (s *soak) haveRun(ctx context.Context, calls []int64) (those []int64, err error) {
	if len(calls) == 0 {
		return nil, nil
	}
	var times []int
	if err := s.ask(ctx, "POST", "/seen", calls, &times); err != nil {
		return nil, err
	}
	for i, n := range calls {
		if times[i] > 0 {
			those = append(those, n)
		}
	}
	return those, nil
}
