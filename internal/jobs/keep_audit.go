package jobs

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/riverqueue/river"

	"patchbay/internal/queue"
	"patchbay/internal/store"
)

// KeepAuditWorker makes the coming months of the audit log. Where it cannot, entries go on being added, into the part for those of no month.
type KeepAuditWorker struct {
	river.WorkerDefaults[queue.KeepAudit]
	system *store.System
	log    *slog.Logger
}

// Work looks once.
func (w *KeepAuditWorker) Work(ctx context.Context, _ *river.Job[queue.KeepAudit]) error {
	made, err := w.system.MakeAuditMonths(ctx)
	if err != nil {
		return fmt.Errorf("make months of the audit log: %w", err)
	}
	if made > 0 {
		w.log.InfoContext(ctx, "months of the audit log made", slog.Int("months", made))
	}
	return nil
}
