package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"patchbay/internal/queue"
)

// revokeEvery is how often deleted accounts are looked for.
const revokeEvery = 15 * time.Second

// RevokeDeletedWorker revokes accounts whose credentials were deleted.
type RevokeDeletedWorker struct {
	river.WorkerDefaults[queue.RevokeDeleted]
	revoke func(ctx context.Context, spell time.Duration) (more bool, err error)
}

// Work revokes for a while, and sleeps where there is more to do.
func (w *RevokeDeletedWorker) Work(ctx context.Context, _ *river.Job[queue.RevokeDeleted]) error {
	more, err := w.revoke(ctx, upkeepSpell)
	if err == nil && more {
		return river.JobSnooze(upkeepPause)
	}
	return err
}
