package store

import (
	"context"
	"errors"
	"time"
)

// unavailableError marks the cause of a fault as: the database does not answer, or refuses writes for now.
type unavailableError struct{ error }

func (e unavailableError) Unwrap() error { return e.error }

// IsDatabaseUnavailable reports whether err means that the database does not answer. The statement may have run
// nevertheless.
func IsDatabaseUnavailable(err error) bool {
	_, away := errors.AsType[unavailableError](err)
	return away
}

// Retry runs do, and reruns it while the database is unavailable and the budget lasts: 15 seconds in all.
// Meanwhile the request waits in a bounded queue. do must be idempotent and end with its context. The error is
// do's, or Unavailable with a retry time. b nil: do runs once.
func (s *Store) Retry(ctx context.Context, b *WaitBudget, do func(context.Context) error) error {
	return s.waits.run(ctx, b, do)
}

// RetryUnqueued is Retry for work that also calls other servers: do runs outside of the queue and without the
// budget's deadline. If it fails because the database is unavailable, the request waits in the queue, and do
// runs again.
func (s *Store) RetryUnqueued(ctx context.Context, b *WaitBudget, do func(context.Context) error) error {
	for pause := minProbePause; ; pause = min(2*pause, maxProbePause) {
		err := do(ctx)
		if b == nil || ctx.Err() != nil || !IsDatabaseUnavailable(err) {
			return err
		}
		if err := s.waits.awaitDatabase(ctx, b, err, pause); err != nil {
			return err
		}
	}
}

// RetryStarted is Retry for work that an upstream has begun: it bypasses the queue, which could refuse it.
func (s *Store) RetryStarted(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, maxDatabaseWait)
	defer cancel()
	for pause := minProbePause; ; pause = min(2*pause, maxProbePause) {
		err := do(ctx)
		if !IsDatabaseUnavailable(err) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// awaitDatabase waits until the database answers after error away, at least pause.
func (wq *waitQueue) awaitDatabase(ctx context.Context, b *WaitBudget, away error, pause time.Duration) error {
	select {
	case <-time.After(pause):
		b.spent += pause
	case <-ctx.Done():
		return ctx.Err()
	}
	return wq.run(ctx, b, func(context.Context) error {
		err := away
		away = nil
		return err
	})
}

// Reasons why a request stops waiting for the database.
const (
	RefusedFull = "full" // the queue is full
	RefusedLate = "late" // the database was unavailable for too long
)

// WaitBuckets are the upper bounds of WaitStats.Buckets, in seconds.
var WaitBuckets = [...]float64{.1, .25, .5, 1, 2, 3, 5, 10, 15}

// WaitStats counts waiting for the database in this process.
type WaitStats struct {
	Waiting int // requests in the queue now
	Waited  uint64
	Time    time.Duration            // total of all requests
	Buckets [len(WaitBuckets)]uint64 // requests that waited at most each of WaitBuckets
	Refused map[string]uint64        // by reason
}

func (s *WaitStats) observeWait(waited time.Duration) {
	s.Waited++
	s.Time += waited
	for i, bound := range WaitBuckets {
		if waited.Seconds() <= bound {
			s.Buckets[i]++
		}
	}
}

func (s *WaitStats) countRefused(why string) {
	if s.Refused == nil {
		s.Refused = map[string]uint64{}
	}
	s.Refused[why]++
}

// WaitStats returns the statistics of the queue.
func (s *Store) WaitStats() WaitStats { return s.waits.copyStats() }

func (wq *waitQueue) copyStats() WaitStats {
	wq.mu.Lock()
	defer wq.mu.Unlock()
	stats := wq.stats
	stats.Waiting = len(wq.waiting)
	stats.Refused = map[string]uint64{RefusedFull: wq.stats.Refused[RefusedFull], RefusedLate: wq.stats.Refused[RefusedLate]}
	return stats
}
