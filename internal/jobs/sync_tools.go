package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"golang.org/x/sync/semaphore"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/queue"
	"patchbay/internal/store"
	"patchbay/internal/toolsync"
)

const (
	// placeWait is how long a job waits for a place before it goes back to its queue. A job that is held by a process that
	// dies is found late, so that none is held for long without being worked.
	placeWait = time.Second
	// later is when a job that went back to its queue is tried again.
	later = 2 * time.Second
)

// SyncToolsWorker performs queued sync runs.
type SyncToolsWorker struct {
	river.WorkerDefaults[queue.SyncTools]
	syncer *toolsync.Syncer
	places *semaphore.Weighted
}

func newSyncToolsWorker(syncer *toolsync.Syncer) *SyncToolsWorker {
	return &SyncToolsWorker{syncer: syncer, places: semaphore.NewWeighted(atOnce)}
}

// Work performs the run of one job.
func (w *SyncToolsWorker) Work(ctx context.Context, job *river.Job[queue.SyncTools]) error {
	waiting, cancel := context.WithTimeout(ctx, placeWait)
	defer cancel()
	if w.places.Acquire(waiting, 1) != nil {
		return river.JobSnooze(later)
	}
	defer w.places.Release(1)

	run := connectors.SyncRunID{UUID: job.Args.SyncRunID}
	tenant := connectors.TenantID{UUID: job.Args.TenantID}
	_, err := w.syncer.Sync(ctx, tenant, toolsync.Request{Connector: connectors.Ref(job.Args.ConnectorID.String()), Run: &run})
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
	waits                // its turn comes
	again                // we failed, before the run began
)

func judge(err error) verdict {
	if err == nil {
		return done
	}
	switch f := fault.As(err); {
	case f.Type == store.TypeSyncRunning, f.Code == toolsync.CodeStopping:
		return waits
	case f.Kind == fault.Internal, f.Kind == fault.Unavailable && f.Code == "":
		return again
	default:
		return done
	}
}
