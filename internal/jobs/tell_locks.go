package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"patchbay/internal/auth"
	"patchbay/internal/queue"
	"patchbay/internal/store"
)

// TellLocksWorker puts on record which accounts were locked by wrong passwords.
type TellLocksWorker struct {
	river.WorkerDefaults[queue.TellLocks]
	system *store.System
}

// Work looks once.
func (w *TellLocksWorker) Work(ctx context.Context, _ *river.Job[queue.TellLocks]) error {
	return auth.TellLocks(ctx, w.system, time.Now())
}
