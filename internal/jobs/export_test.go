package jobs

import (
	"context"

	"patchbay/internal/toolsync"
)

// NewSyncToolsWorker makes the worker without the machinery around it.
func NewSyncToolsWorker(s *toolsync.Syncer) *SyncToolsWorker { return newSyncToolsWorker(s) }

// Tend looks once for runs that lost their jobs.
func (r *Runner) Tend(ctx context.Context) (int, error) { return r.tender.tend(ctx) }
