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
	syncer *toolsync.Syncer
	rooms  *rooms
	back   *comeback
}

func newSyncToolsWorker(syncer *toolsync.Syncer, back *comeback) *SyncToolsWorker {
	return &SyncToolsWorker{syncer: syncer, rooms: newRooms(), back: back}
}

// Work performs the run of one job.
func (w *SyncToolsWorker) Work(ctx context.Context, job *river.Job[queue.SyncTools]) error {
	err := w.perform(ctx, job)
	w.back.expect(job.Queue, err)
	return err
}

func (w *SyncToolsWorker) perform(ctx context.Context, job *river.Job[queue.SyncTools]) error {
	tenant := connectors.TenantID{UUID: job.Args.TenantID}
	leave, away := w.rooms.enter(ctx, tenant)
	switch {
	case leave == nil && job.Priority < queue.OfMany:
		return river.JobSnooze(later)
	case leave == nil:
		return river.JobSnooze(away)
	}
	defer leave()
	run := connectors.SyncRunID{UUID: job.Args.SyncRunID}
	_, err := w.syncer.Sync(ctx, tenant, toolsync.Request{Connector: connectors.Ref(job.Args.ConnectorID.String()), Run: &run})
	if err != nil && fault.As(err).Type == store.TypeSyncTaken {
		err = w.syncer.SyncAgain(ctx, tenant, run) // where its process died, or stopped, during it
	}
	switch judge(err) {
	case done:
		return nil
	case waits:
		return river.JobSnooze(later)
	}
	if job.Attempt >= job.MaxAttempts {
		w.syncer.Abandon(ctx, tenant, run, err) // nobody comes for it again, and it would keep later ones from being queued
	}
	return err
}

// verdict is what the end of a run means for its job.
type verdict int

const (
	done  verdict = iota // the row says how it ended, or is gone
	waits                // its turn comes, or comes again
	again                // we failed, before the run began
)

func judge(err error) verdict {
	if err == nil {
		return done
	}
	switch f := fault.As(err); {
	case f.Type == store.TypeSyncRunning, f.Code == toolsync.CodeStopping, f.Code == toolsync.CodeInterrupted:
		return waits
	case f.Kind == fault.Internal, f.Kind == fault.Unavailable && f.Code == "":
		return again
	default:
		return done
	}
}
