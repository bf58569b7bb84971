package jobs

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/riverqueue/river"

	"patchbay/internal/queue"
	"patchbay/internal/store"
)

// CreateAuditMonthsWorker creates the audit log's coming partitions. Without them entries go to the default
// partition.
type CreateAuditMonthsWorker struct {
	river.WorkerDefaults[queue.CreateAuditMonths]
	system *store.System
	log    *slog.Logger
}

// Work creates missing months.
func (w *CreateAuditMonthsWorker) Work(ctx context.Context, _ *river.Job[queue.CreateAuditMonths]) error {
	made, err := w.system.MakeAuditMonths(ctx)
	if err != nil {
		return fmt.Errorf("create months of the audit log: %w", err)
	}
	if made > 0 {
		w.log.InfoContext(ctx, "months of the audit log created", slog.Int("months", made))
	}
	return nil
}
