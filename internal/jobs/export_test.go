package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"patchbay/internal/toolsync"
)

// NewSyncToolsWorker makes the worker without the machinery around it.
func NewSyncToolsWorker(s *toolsync.Syncer) *SyncToolsWorker {
	return newSyncToolsWorker(s, newComeback(nil, slog.New(slog.DiscardHandler)))
}

// NewPolling makes a Runner that looks so seldom for jobs that nobody announced.
func NewPolling(o Options, seldom time.Duration) (*Runner, error) { return newRunner(o, seldom) }

// Tend looks once for runs that lost their jobs.
func (r *Runner) Tend(ctx context.Context) (int, error) { return r.tender.tend(ctx) }

// WentBack tells of jobs that were given back.
func (r *Runner) WentBack() (<-chan *river.Event, func()) {
	return r.client.Subscribe(river.EventKindJobSnoozed)
}
