package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// awayError marks the cause of a fault that says that the database does not answer, or takes no changes for now.
type awayError struct{ error }

func (e awayError) Unwrap() error { return e.error }

// Away reports whether err says that the database does not answer. What was asked may have been done all the same.
func Away(err error) bool {
	_, away := errors.AsType[awayError](err)
	return away
}

// unsent reports whether err says that the database is away, and that nothing of what was asked has reached it.
func unsent(err error) bool {
	_, refused := errors.AsType[*pgconn.ConnectError](err)
	return Away(err) && (refused || pgconn.SafeToRetry(err))
}

// Retry runs do, and runs it again while the database is away, as long as the budget allows: 15 seconds in all. The request waits in a queue
// meanwhile, of bounded length. do may run several times with the same effect as once; it ends when its context does. The error is that of do,
// or Unavailable with the time after which to try again. b nil: do runs once.
func (s *Store) Retry(ctx context.Context, b *WaitBudget, do func(context.Context) error) error {
	return s.waits.run(ctx, b, Away, do)
}

// RetryUnsent is Retry for what must not be done twice: do runs again only where nothing of it has reached the database.
func (s *Store) RetryUnsent(ctx context.Context, b *WaitBudget, do func(context.Context) error) error {
	return s.waits.run(ctx, b, unsent, do)
}

// RetryOutside is Retry for work that asks other servers, too, and may take long: do runs outside of the queue and without the budget's
// deadline. Where it fails because the database is away, the request waits in the queue for the database, and do runs again.
func (s *Store) RetryOutside(ctx context.Context, b *WaitBudget, do func(context.Context) error) error {
	for pause := minProbePause; ; pause = min(2*pause, maxProbePause) {
		err := do(ctx)
		if b == nil || ctx.Err() != nil || !Away(err) {
			return err
		}
		if err := s.waits.awaitDatabase(ctx, b, err, pause); err != nil {
			return err
		}
	}
}

// awaitDatabase returns nil when the database answers after away, the error that said otherwise, at the earliest after a pause.
func (wq *waitQueue) awaitDatabase(ctx context.Context, b *WaitBudget, away error, pause time.Duration) error {
	select {
	case <-time.After(pause):
		b.spent += pause
	case <-ctx.Done():
		return ctx.Err()
	}
	return wq.run(ctx, b, Away, func(context.Context) error {
		err := away
		away = nil
		return err
	})
}

// Why a request does not wait for the database any longer.
const (
	RefusedFull = "full" // the queue has no room
	RefusedLate = "late" // the database was away for too long
)

// WaitBuckets are the upper bounds of WaitStats.Buckets, in seconds.
var WaitBuckets = [...]float64{.1, .25, .5, 1, 2, 3, 5, 10, 15}

// WaitStats is what waiting for the database came to in this process.
type WaitStats struct {
	Waiting int // requests in the queue now
	Waited  uint64
	Time    time.Duration            // of all that waited
	Buckets [len(WaitBuckets)]uint64 // how many waited at most as long as each of WaitBuckets
	Refused map[string]uint64        // by reason
}

func (s *WaitStats) observe(waited time.Duration) {
	s.Waited++
	s.Time += waited
	for i, bound := range WaitBuckets {
		if waited.Seconds() <= bound {
			s.Buckets[i]++
		}
	}
}

func (s *WaitStats) refused(why string) {
	if s.Refused == nil {
		s.Refused = map[string]uint64{}
	}
	s.Refused[why]++
}

// WaitStats returns the state of the queue of requests that wait for the database.
func (s *Store) WaitStats() WaitStats { return s.waits.state() }

func (wq *waitQueue) state() WaitStats {
	wq.mu.Lock()
	defer wq.mu.Unlock()
	stats := wq.stats
	stats.Waiting = len(wq.waiting)
	stats.Refused = map[string]uint64{RefusedFull: wq.stats.Refused[RefusedFull], RefusedLate: wq.stats.Refused[RefusedLate]}
	return stats
}
