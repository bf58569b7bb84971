package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"patchbay/internal/queue"
)

const (
	// revokeEvery is how often deleted accounts are looked for.
	revokeEvery = 15 * time.Second
	// revokeBatch bounds how many a job tries before it looks whether it should end.
	revokeBatch = 20
)

// RevokeDeletedWorker revokes accounts whose credentials were deleted.
type RevokeDeletedWorker struct {
	river.WorkerDefaults[queue.RevokeDeleted]
	revoke func(ctx context.Context, max int) (int, error)
}

// Work tries all that are due.
func (w *RevokeDeletedWorker) Work(ctx context.Context, _ *river.Job[queue.RevokeDeleted]) error {
	for {
		n, err := w.revoke(ctx, revokeBatch)
		if err != nil || n < revokeBatch {
			return err
		}
	}
}
