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
	"patchbay/internal/store"
)

const (
	// upkeepAtOnce lets a sweep that has much to do, and revocations whose servers hang, delay no renewal.
	upkeepAtOnce = 4
	// upkeepSpell is how long a job works at once, so that a process that stops need not wait for it; upkeepPause is when it goes on, in any
	// process.
	upkeepSpell = 5 * time.Second
	upkeepPause = time.Second
	// sweepHistoryEvery is how much longer than said history may be there. Looking costs a few statements a tenant.
	sweepHistoryEvery = 6 * time.Hour
	// leftoversEvery is how much longer than they are good for things lie about that nobody can use.
	leftoversEvery = 15 * time.Minute
	// checkAuditEvery is how long a changed entry of the audit log may stay unseen. Checking takes some microseconds an entry.
	checkAuditEvery = 24 * time.Hour
	// keepAuditEvery is how often the audit log's coming months are looked for. There are three ahead.
	keepAuditEvery = 12 * time.Hour
	// tellLocksEvery is how much later than it happened the audit log may tell that an account was locked.
	tellLocksEvery = time.Minute
	// renewEvery is how late an idle account may be renewed.
	renewEvery = 10 * time.Minute
)

// UpkeepOptions are what keeps the house in order.
type UpkeepOptions struct {
	Sweeper     *retention.Sweeper
	System      *store.System
	Credentials *credentials.Resolver
	Renewed     func(credentials.IdleReport) // is told what came of each round; nil: nobody is
	Store       *store.Store
	// Revoke revokes accounts whose credentials were deleted. It begins none when spell is over, and reports whether there may be more.
	Revoke   func(ctx context.Context, spell time.Duration) (more bool, err error)
	AuditBad func() // is told of each tenant whose audit log, or whose record of calls, is not as it was recorded; nil: nobody is
	Log      *slog.Logger
}

// Upkeep works what is done by the clock and that nobody waits for.
func Upkeep(o UpkeepOptions) Part {
	return func(workers *river.Workers, config *river.Config) error {
		config.Queues[queue.Upkeep] = river.QueueConfig{MaxWorkers: upkeepAtOnce}
		config.PeriodicJobs = append(config.PeriodicJobs,
			every(sweepHistoryEvery, queue.SweepHistory{}), every(leftoversEvery, queue.SweepLeftovers{}), every(renewEvery, queue.RenewIdle{}),
			every(checkAuditEvery, queue.CheckAudit{}), every(keepAuditEvery, queue.KeepAudit{}),
			every(tellLocksEvery, queue.TellLocks{}), every(revokeEvery, queue.RevokeDeleted{}))
		return errors.Join(
			river.AddWorkerSafely(workers, &SweepHistoryWorker{sweeper: o.Sweeper}),
			river.AddWorkerSafely(workers, &SweepLeftoversWorker{system: o.System, log: o.Log}),
			river.AddWorkerSafely(workers, &CheckAuditWorker{store: o.Store, bad: o.AuditBad, log: o.Log}),
			river.AddWorkerSafely(workers, &KeepAuditWorker{system: o.System, log: o.Log}),
			river.AddWorkerSafely(workers, &TellLocksWorker{system: o.System}),
			river.AddWorkerSafely(workers, &RevokeDeletedWorker{revoke: o.Revoke}),
			river.AddWorkerSafely(workers, &RenewIdleWorker{credentials: o.Credentials, renewed: o.Renewed}))
	}
}

func every(interval time.Duration, args river.JobArgs) *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(interval),
		func() (river.JobArgs, *river.InsertOpts) { return args, nil }, &river.PeriodicJobOpts{RunOnStart: true})
}

// SweepHistoryWorker forgets old history.
type SweepHistoryWorker struct {
	river.WorkerDefaults[queue.SweepHistory]
	sweeper *retention.Sweeper
}

// Work sweeps for a while, and sleeps where there is more to do. How far it has come stands in the job: another process may go on.
func (w *SweepHistoryWorker) Work(ctx context.Context, job *river.Job[queue.SweepHistory]) error {
	var from retention.Place
	if came := job.Output(); came != nil {
		if err := json.Unmarshal(came, &from); err != nil {
			return fmt.Errorf("read how far the sweep has come: %w", err)
		}
	}
	from, err := w.sweeper.Sweep(ctx, from, upkeepSpell)
	if err != nil {
		return err
	}
	if err := river.RecordOutput(ctx, from); err != nil {
		return err
	}
	if from.Open() {
		return river.JobSnooze(upkeepPause)
	}
	return nil
}

// SweepLeftoversWorker forgets what was begun and never ended.
type SweepLeftoversWorker struct {
	river.WorkerDefaults[queue.SweepLeftovers]
	system *store.System
	log    *slog.Logger
}

// Work looks once.
func (w *SweepLeftoversWorker) Work(ctx context.Context, _ *river.Job[queue.SweepLeftovers]) error {
	n, err := w.system.SweepLeftovers(ctx)
	if n > 0 {
		w.log.InfoContext(ctx, "leftovers swept", slog.Int("rows", n))
	}
	return err
}

// RenewIdleWorker renews accounts that nobody uses.
type RenewIdleWorker struct {
	river.WorkerDefaults[queue.RenewIdle]
	credentials *credentials.Resolver
	renewed     func(credentials.IdleReport)
}

// Work renews for a while, and sleeps where there is more to do.
func (w *RenewIdleWorker) Work(ctx context.Context, _ *river.Job[queue.RenewIdle]) error {
	report, err := w.credentials.RenewIdle(ctx, upkeepSpell)
	if w.renewed != nil {
		w.renewed(report)
	}
	if err == nil && report.More {
		return river.JobSnooze(upkeepPause)
	}
	return err
}
