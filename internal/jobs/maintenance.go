package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"patchbay/internal/credentials"
	"patchbay/internal/queue"
	"patchbay/internal/retention"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

const (
	// maxUpkeepJobs lets long sweeps and hung revocations delay no refresh.
	maxUpkeepJobs = 4
	// maintenanceTime bounds the work of one job, so that a stopping process need not wait for it. The job continues
	// after upkeepPause, in any process.
	maintenanceTime = 5 * time.Second
	upkeepPause     = time.Second
	// sweepHistoryInterval is how long history may outlast its retention. A sweep costs a few statements a
	// tenant.
	sweepHistoryInterval = 6 * time.Hour
	// sweepExpiredInterval is how long expired rows may stay.
	sweepExpiredInterval = 15 * time.Minute
	// checkAuditInterval bounds the time to detect a changed audit entry. A check takes some microseconds an
	// entry.
	checkAuditInterval = 24 * time.Hour
	// auditMonthsInterval is the interval of checking for the audit log's months. There are three ahead.
	auditMonthsInterval = 12 * time.Hour
	// recordLocksInterval bounds the delay between the lock of an account and its audit entry.
	recordLocksInterval = time.Minute
	// renewInterval bounds the delay of an idle account's refresh.
	renewInterval = 10 * time.Minute
)

// MaintenanceOptions configure the maintenance jobs.
type MaintenanceOptions struct {
	Sweeper     *retention.Sweeper
	System      *store.System
	Credentials *credentials.Resolver
	Renewed     func(credentials.IdleReport) // called after each round; may be nil
	Store       *store.Store
	// Revoke revokes accounts with deleted credentials. It starts none after spell and reports whether
	// there may be more.
	Revoke        func(ctx context.Context, spell time.Duration) (more bool, err error)
	OnAuditBroken func() // called for each tenant with a broken chain of audit entries or calls; may be nil
	Log           *slog.Logger
}

// Upkeep adds the workers of maintenance.
func Upkeep(o MaintenanceOptions) Module {
	return func(workers *river.Workers, config *river.Config) error {
		config.Queues[queue.Upkeep] = river.QueueConfig{MaxWorkers: maxUpkeepJobs}
		config.PeriodicJobs = append(config.PeriodicJobs,
			newPeriodicJob(sweepHistoryInterval, queue.SweepHistory{}), newPeriodicJob(sweepExpiredInterval, queue.SweepExpired{}), newPeriodicJob(renewInterval, queue.RenewIdle{}),
			newPeriodicJob(checkAuditInterval, queue.CheckAudit{}), newPeriodicJob(auditMonthsInterval, queue.CreateAuditMonths{}),
			newPeriodicJob(recordLocksInterval, queue.RecordLocks{}), newPeriodicJob(revokeInterval, queue.RevokeDeleted{}))
		return errors.Join(
			river.AddWorkerSafely(workers, &SweepHistoryWorker{sweeper: o.Sweeper}),
			river.AddWorkerSafely(workers, &SweepExpiredWorker{system: o.System, log: o.Log}),
			river.AddWorkerSafely(workers, &CheckAuditWorker{store: o.Store, onBad: o.OnAuditBroken, log: o.Log}),
			river.AddWorkerSafely(workers, &CreateAuditMonthsWorker{system: o.System, log: o.Log}),
			river.AddWorkerSafely(workers, &RecordLocksWorker{system: o.System}),
			river.AddWorkerSafely(workers, &RevokeDeletedWorker{revoke: o.Revoke}),
			river.AddWorkerSafely(workers, &RenewIdleWorker{credentials: o.Credentials, renewed: o.Renewed}))
	}
}

func newPeriodicJob(interval time.Duration, args river.JobArgs) *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(interval), func() (river.JobArgs, *river.InsertOpts) {
		defer safe.Recover(safe.Task) // without arguments River inserts no job
		return args, nil
	}, &river.PeriodicJobOpts{RunOnStart: true})
}

// SweepHistoryWorker deletes history past its retention.
type SweepHistoryWorker struct {
	river.WorkerDefaults[queue.SweepHistory]
	sweeper *retention.Sweeper
}

// Work sweeps for maintenanceTime and snoozes if there is more. The job stores the cursor, so that another process
// can continue.
func (w *SweepHistoryWorker) Work(ctx context.Context, job *river.Job[queue.SweepHistory]) error {
	var cursor retention.Place
	if output := job.Output(); output != nil {
		if err := json.Unmarshal(output, &cursor); err != nil {
			return fmt.Errorf("read how far the sweep has come: %w", err)
		}
	}
	cursor, err := w.sweeper.Sweep(ctx, cursor, maintenanceTime)
	if err != nil {
		return err
	}
	if err := river.RecordOutput(ctx, cursor); err != nil {
		return err
	}
	if cursor.Open() {
		return river.JobSnooze(upkeepPause)
	}
	return nil
}

// SweepExpiredWorker deletes what was begun and never finished.
type SweepExpiredWorker struct {
	river.WorkerDefaults[queue.SweepExpired]
	system *store.System
	log    *slog.Logger
}

// Work sweeps once.
func (w *SweepExpiredWorker) Work(ctx context.Context, _ *river.Job[queue.SweepExpired]) error {
	n, err := w.system.SweepExpired(ctx)
	if n > 0 {
		w.log.InfoContext(ctx, "expired data deleted", slog.Int("rows", n))
	}
	return err
}

// RenewIdleWorker refreshes the tokens of unused accounts.
type RenewIdleWorker struct {
	river.WorkerDefaults[queue.RenewIdle]
	credentials *credentials.Resolver
	renewed     func(credentials.IdleReport)
}

// Work refreshes for maintenanceTime and snoozes if there is more.
func (w *RenewIdleWorker) Work(ctx context.Context, _ *river.Job[queue.RenewIdle]) error {
	report, err := w.credentials.RefreshIdle(ctx, maintenanceTime)
	if w.renewed != nil {
		w.renewed(report)
	}
	if err == nil && report.More {
		return river.JobSnooze(upkeepPause)
	}
	return err
}
