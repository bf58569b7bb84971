package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
)

const (
	// announcedAfter is from when on River itself announces a job that comes back; one that comes sooner it leaves to the next poll.
	announcedAfter = 5 * time.Second
	// insertTopic is the name by which River announces jobs. Where that changes, they come with the next poll, and a test says so.
	insertTopic = "river_insert"
	// callEvery is how late such a job may be, at most.
	callEvery = time.Second
)

// comeback announces the jobs that this process gave back for a moment, when their time has come: without it each queue would have to be
// looked at every few seconds, by every process, for jobs that seldom are.
type comeback struct {
	notifies riverdriver.Executor
	log      *slog.Logger
	wake     chan struct{}

	mu    sync.Mutex           // guards what follows
	until map[string]time.Time // by queue: when the last one has come back
}

func newComeback(notifies riverdriver.Executor, log *slog.Logger) *comeback {
	return &comeback{notifies: notifies, log: log, wake: make(chan struct{}, 1), until: map[string]time.Time{}}
}

// expect takes note of a job that ended with err, and comes back for that. nil: it does not.
func (b *comeback) expect(queue string, err error) {
	if err == nil {
		return
	}
	after := announcedAfter // after a failure sooner than that, or announced
	if snooze, ok := errors.AsType[*river.JobSnoozeError](err); ok {
		after = min(snooze.Duration, announcedAfter)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := time.Now().Add(after + callEvery); at.After(b.until[queue]) { // and the time to write that it waits
		b.until[queue] = at
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// run announces until ctx ends. While nothing comes back it sleeps.
func (b *comeback) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
		}
		for queues := b.queues(); len(queues) > 0; queues = b.queues() {
			select {
			case <-ctx.Done():
				return
			case <-time.After(callEvery):
			}
			if err := b.call(ctx, queues); err != nil && ctx.Err() == nil {
				b.log.WarnContext(ctx, "jobs that come back not announced", slog.Any("error", err))
			}
		}
	}
}

// queues are those with jobs that come back. One whose last has come is forgotten.
func (b *comeback) queues() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	now := time.Now()
	for name, until := range b.until {
		names = append(names, name)
		if until.Before(now) {
			delete(b.until, name)
		}
	}
	return names
}

// call has the workers of queues look for jobs, in all processes.
func (b *comeback) call(ctx context.Context, queues []string) error {
	ctx, cancel := context.WithTimeout(ctx, tickTimeout)
	defer cancel()
	payloads := make([]string, len(queues))
	for i, name := range queues {
		payloads[i] = fmt.Sprintf(`{"queue": %q}`, name)
	}
	if err := b.notifies.NotifyMany(ctx, &riverdriver.NotifyManyParams{Topic: insertTopic, Payload: payloads}); err != nil {
		return fmt.Errorf("announce jobs in %d queues: %w", len(queues), err)
	}
	return nil
}
