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
	// riverNotifiesAfter is the snooze from which River itself announces the return. Shorter ones it leaves to
	// the next poll.
	riverNotifiesAfter = 5 * time.Second
	// insertTopic is River's channel for new jobs. If River changes it, jobs wait for the next poll, and a test
	// fails.
	insertTopic = "river_insert"
	// notifyInterval bounds the delay of a returning job.
	notifyInterval = time.Second
)

// snoozeNotifier announces the return of jobs that this process snoozed. Without it every process would have to
// poll every queue every few seconds.
type snoozeNotifier struct {
	executor riverdriver.Executor
	log      *slog.Logger
	wake     chan struct{}

	mu       sync.Mutex           // guards returnBy
	returnBy map[string]time.Time // by queue: return of the last snoozed job
}

func newSnoozeNotifier(notifies riverdriver.Executor, log *slog.Logger) *snoozeNotifier {
	return &snoozeNotifier{executor: notifies, log: log, wake: make(chan struct{}, 1), returnBy: map[string]time.Time{}}
}

// trackSnooze records that a job which ended with err will return; nil: it will not.
func (n *snoozeNotifier) trackSnooze(queue string, err error) {
	if err == nil {
		return
	}
	delay := riverNotifiesAfter // failed jobs return sooner or are announced
	if snooze, ok := errors.AsType[*river.JobSnoozeError](err); ok {
		delay = min(snooze.Duration, riverNotifiesAfter)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if returnBy := time.Now().Add(delay + notifyInterval); returnBy.After(n.returnBy[queue]) { // with the time to store the snooze
		n.returnBy[queue] = returnBy
	}
	n.wakeLoop()
}

// wakeLoop makes run look for returning jobs.
func (n *snoozeNotifier) wakeLoop() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// run announces until ctx ends. It sleeps while no job is snoozed.
func (n *snoozeNotifier) run(ctx context.Context) {
	defer n.wakeLoop() // after a panic the loop restarts, and must not wait for the next snooze
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		}
		for queues := n.takeQueues(); len(queues) > 0; queues = n.takeQueues() {
			select {
			case <-ctx.Done():
				return
			case <-time.After(notifyInterval):
			}
			if err := n.notifyQueues(ctx, queues); err != nil && ctx.Err() == nil {
				n.log.WarnContext(ctx, "snoozed jobs not announced", slog.Any("error", err))
			}
		}
	}
}

// takeQueues returns the queues with snoozed jobs and forgets those without one.
func (n *snoozeNotifier) takeQueues() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var names []string
	now := time.Now()
	for name, returnBy := range n.returnBy {
		names = append(names, name)
		if returnBy.Before(now) {
			delete(n.returnBy, name)
		}
	}
	return names
}

// notifyQueues wakes the workers of queues in all processes.
func (n *snoozeNotifier) notifyQueues(ctx context.Context, queues []string) error {
	ctx, cancel := context.WithTimeout(ctx, tickTimeout)
	defer cancel()
	payloads := make([]string, len(queues))
	for i, name := range queues {
		payloads[i] = fmt.Sprintf(`{"queue": %q}`, name)
	}
	if err := n.executor.NotifyMany(ctx, &riverdriver.NotifyManyParams{Topic: insertTopic, Payload: payloads}); err != nil {
		return fmt.Errorf("announce jobs in %d queues: %w", len(queues), err)
	}
	return nil
}
