package main

import (
	"context"
	"fmt"
	"sync"
)

// callOutcome is a call's result as the client knows it.
type callOutcome int

const (
	hasAnswer callOutcome = iota
	hasFailed
	wasCancelled
)

// outcomeLog counts outcomes and lists unexpected failures.
type outcomeLog struct {
	mu         sync.Mutex // guards the fields below
	counts     [3]int64
	cut        []int64 // failed calls with an aborted reply
	resumed    int64   // successful retries after an aborted reply
	unexpected []int64 // other failed calls
}

func (f *outcomeLog) recordOutcome(c soakCall, what callOutcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[what]++
	switch {
	case what == hasAnswer && c.do == doCut:
		f.resumed++
	case what != hasFailed:
	case c.do == doCut:
		f.cut = append(f.cut, c.n)
	default:
		f.unexpected = append(f.unexpected, c.n)
	}
}

// compareOutcomes asks the mock whether failed calls were executed. A call that lost its session twice fails
// and must not have been executed, even if its reply was to be cut.
func (s *soakRun) compareOutcomes(ctx context.Context, r *soakReport) error {
	s.outcomes.mu.Lock()
	defer s.outcomes.mu.Unlock()
	r.answered, r.failed, r.cancelled, r.resumed = s.outcomes.counts[hasAnswer], s.outcomes.counts[hasFailed], s.outcomes.counts[wasCancelled], s.outcomes.resumed
	cut, err := s.filterExecuted(ctx, s.outcomes.cut)
	if err != nil {
		return err
	}
	r.cut = int64(len(cut))
	surprises, err := s.filterExecuted(ctx, s.outcomes.unexpected)
	r.executedFailures = int64(len(surprises))
	for _, n := range surprises {
		fmt.Fprintf(s.out, "call %d has run, and was told to have failed\n", n)
	}
	return err
}

// filterExecuted returns the calls that the mock received.
func (s *soakRun) filterExecuted(ctx context.Context, calls []int64) (those []int64, err error) {
	if len(calls) == 0 {
		return nil, nil
	}
	var times []int
	if err := s.askUpstream(ctx, "POST", "/seen", calls, &times); err != nil {
		return nil, err
	}
	for i, n := range calls {
		if times[i] > 0 {
			those = append(those, n)
		}
	}
	return those, nil
}
