package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/queue"
	"patchbay/internal/store"
	"patchbay/internal/toolsync"
)

// SyncToolsWorker performs queued sync runs.
type SyncToolsWorker struct {
	river.WorkerDefaults[queue.SyncTools]
	syncer   *toolsync.Syncer
	slots    *syncSlots
	notifier *snoozeNotifier
}

func newSyncToolsWorker(syncer *toolsync.Syncer, notifier *snoozeNotifier) *SyncToolsWorker {
	return &SyncToolsWorker{syncer: syncer, slots: newSyncSlots(), notifier: notifier}
}

// Work performs the run of one job.
func (w *SyncToolsWorker) Work(ctx context.Context, job *river.Job[queue.SyncTools]) error {
	err := w.performRun(ctx, job)
	w.notifier.trackSnooze(job.Queue, err)
	return err
}

func (w *SyncToolsWorker) performRun(ctx context.Context, job *river.Job[queue.SyncTools]) error {
	tenant := connectors.TenantID{UUID: job.Args.TenantID}
	release, retryAfter := w.slots.acquireSlot(ctx, tenant)
	switch {
	case release == nil && job.Priority < queue.OfMany:
		return river.JobSnooze(minRetryAfter)
	case release == nil:
		return river.JobSnooze(retryAfter)
	}
	defer release()
	run := connectors.SyncRunID{UUID: job.Args.SyncRunID}
	_, err := w.syncer.Sync(ctx, tenant, toolsync.Request{Connector: connectors.Ref(job.Args.ConnectorID.String()), Run: &run})
	if err != nil && fault.As(err).Type == store.TypeSyncTaken {
		err = w.syncer.RestartInterrupted(ctx, tenant, run) // after its process died or stopped
	}
	switch classifyError(err) {
	case outcomeDone:
		return nil
	case outcomeSnooze:
		return river.JobSnooze(minRetryAfter)
	}
	if job.Attempt >= job.MaxAttempts {
		w.syncer.FailQueued(ctx, tenant, run, err) // no job will follow, and the queued run would block later ones
	}
	return err
}

// runOutcome is the consequence of a run for its job.
type runOutcome int

const (
	outcomeDone   runOutcome = iota // the row holds the outcome, or is deleted
	outcomeSnooze                   // another run is active, or the process stops
	outcomeRetry                    // our own failure, before the run began
)

func classifyError(err error) runOutcome {
	if err == nil {
		return outcomeDone
	}
	switch f := fault.As(err); {
	case f.Type == store.TypeSyncRunning, f.Code == toolsync.CodeStopping, f.Code == toolsync.CodeInterrupted:
		return outcomeSnooze
	case f.Kind == fault.Internal, f.Kind == fault.Unavailable && f.Code == "":
		return outcomeRetry
	default:
		return outcomeDone
	}
}
