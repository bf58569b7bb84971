package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"patchbay/internal/queue"
)

// revokeInterval is the interval of looking for deleted accounts.
const revokeInterval = 15 * time.Second

// RevokeDeletedWorker revokes accounts with deleted credentials.
type RevokeDeletedWorker struct {
	river.WorkerDefaults[queue.RevokeDeleted]
	revoke func(ctx context.Context, spell time.Duration) (more bool, err error)
}

// Work revokes for maintenanceTime and snoozes if there is more.
func (w *RevokeDeletedWorker) Work(ctx context.Context, _ *river.Job[queue.RevokeDeleted]) error {
	more, err := w.revoke(ctx, maintenanceTime)
	if err == nil && more {
		return river.JobSnooze(upkeepPause)
	}
	return err
}
