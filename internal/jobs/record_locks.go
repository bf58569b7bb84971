package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"patchbay/internal/auth"
	"patchbay/internal/queue"
	"patchbay/internal/store"
)

// RecordLocksWorker audits accounts that were locked by wrong passwords.
type RecordLocksWorker struct {
	river.WorkerDefaults[queue.RecordLocks]
	system *store.System
}

// Work records new locks.
func (w *RecordLocksWorker) Work(ctx context.Context, _ *river.Job[queue.RecordLocks]) error {
	return auth.RecordLocks(ctx, w.system, time.Now())
}
