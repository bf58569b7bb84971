package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"patchbay/internal/queue"
)

const (
	// sweepEvery is how late a sync that is due may begin. The shortest interval is a minute.
	sweepEvery = 10 * time.Second
	// batch is how many connectors one transaction claims.
	batch = 100
	// sweepTimeout ends a sweep before the next but five begins.
	sweepTimeout = time.Minute
)

// Due queues the syncs of at most max connectors that are due, and says how many it found. It is [store.System.QueueDue].
type Due func(ctx context.Context, max int) (int, error)

// SweepDueWorker queues what is due, batch by batch.
type SweepDueWorker struct {
	river.WorkerDefaults[queue.SweepDue]
	due Due
	log *slog.Logger
}

// Timeout bounds one sweep.
func (w *SweepDueWorker) Timeout(*river.Job[queue.SweepDue]) time.Duration { return sweepTimeout }

// Work claims until less than a batch is left.
func (w *SweepDueWorker) Work(ctx context.Context, _ *river.Job[queue.SweepDue]) error {
	total := 0
	for {
		n, err := w.due(ctx, batch)
		if err != nil {
			return err
		}
		if total += n; n < batch {
			break
		}
	}
	if total > 0 {
		w.log.DebugContext(ctx, "syncs that were due are queued", "connectors", total)
	}
	return nil
}

// sweeps makes one process (River's leader) insert a sweep every ten seconds.
func sweeps() *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(sweepEvery),
		func() (river.JobArgs, *river.InsertOpts) { return queue.SweepDue{}, nil },
		&river.PeriodicJobOpts{RunOnStart: true})
}
