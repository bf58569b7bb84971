package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"patchbay/internal/queue"
	"patchbay/internal/toolsync"
)

// dueTimeout ends a job that keeps claiming; the clock has inserted others by then.
const dueTimeout = 20 * time.Second

// SyncDueWorker starts due syncs, which continue after the job. A claim holds them, not a worker.
type SyncDueWorker struct {
	river.WorkerDefaults[queue.SyncDue]
	syncer *toolsync.Syncer
}

// Timeout implements river.Worker.
func (w *SyncDueWorker) Timeout(*river.Job[queue.SyncDue]) time.Duration { return dueTimeout }

// Work claims until nothing is due or the process has no slot.
func (w *SyncDueWorker) Work(ctx context.Context, job *river.Job[queue.SyncDue]) error {
	shards := []int{job.Args.Shard}
	if job.Args.Shard == queue.AllShards {
		shards = shards[:0]
		for shard := range queue.Count {
			shards = append(shards, shard)
		}
	}
	_, err := w.syncer.SyncDue(ctx, shards)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // its time is over, and another job's has come
	}
	return err
}
