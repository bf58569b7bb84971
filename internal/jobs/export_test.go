package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"patchbay/internal/toolsync"
)

// NewSyncToolsWorker returns a worker without a Runner.
func NewSyncToolsWorker(s *toolsync.Syncer) *SyncToolsWorker {
	return newSyncToolsWorker(s, newSnoozeNotifier(nil, slog.New(slog.DiscardHandler)))
}

// NewPolling returns a Runner with the poll interval of announced queues set.
func NewPolling(o Options, rarePoll time.Duration) (*Runner, error) { return newRunner(o, rarePoll) }

// RescueOnce runs the rescuer once.
func (r *Runner) RescueOnce(ctx context.Context) (int, error) { return r.rescuer.rescueOnce(ctx) }

// WatchSnoozes returns the snooze events of jobs.
func (r *Runner) WatchSnoozes() (<-chan *river.Event, func()) {
	return r.client.Subscribe(river.EventKindJobSnoozed)
}
