package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"patchbay/internal/queue"
	"patchbay/internal/safe"
	"patchbay/internal/toolsync"
	"patchbay/internal/tracing"
)

const (
	// maxSyncs bounds the concurrent requested syncs of a process: each waits for its server nearly all of the
	// time.
	maxSyncs = 128
	// maxTenantSyncs is one tenant's share of maxSyncs, so that its backlog or hung servers leave slots to
	// others.
	maxTenantSyncs = 16
	// queueWorkers serves three full tenants of one queue; a job without a slot does not hold its worker.
	queueWorkers = 3 * maxTenantSyncs
	// jobTimeout exceeds the longest run, which has its own timeout.
	jobTimeout = toolsync.MaxDuration + time.Minute
	// rescueAfter is when River frees a job of a silent process. Jobs of dead processes are freed long
	// before (dead_jobs.go).
	rescueAfter = jobTimeout + 30*time.Second
	// pollInterval bounds the delay of a job after a lost notification.
	pollInterval = 5 * time.Second
	// rarePollInterval is pollInterval for queues with notified jobs only, snoozed ones too
	// (snooze_notifier.go). There are seventeen; polling each every few seconds would cost as much as the syncs
	// of thousands of connectors.
	rarePollInterval = 15 * time.Second
	// pollOnlyInterval is pollInterval without LISTEN.
	pollOnlyInterval = time.Second
	// dueWorkers bounds the concurrent SyncDue jobs of a process. They end soon.
	dueWorkers = 24
	// jobRetention is how long finished jobs are kept for inspection.
	jobRetention = time.Hour
	// cancelTimeout bounds the end of cancelled workers.
	cancelTimeout = 15 * time.Second
)

// Options configure a [Runner].
type Options struct {
	Pool       *pgxpool.Pool // for short queries
	ListenPool *pgxpool.Pool // for LISTEN, so without a transaction pooler; nil: poll only
	Syncer     *toolsync.Syncer
	Due        CountDueFunc
	Turn       ClaimTickFunc      // nil: this is the only process
	Queued     ListLongQueuedFunc // nil: lost jobs wait for River
	Log        *slog.Logger       // nil: discard
	Tracer     *tracing.Tracer    // nil: no tracing
	Parts      []Module           // more workers and queues
}

// Runner works the jobs of this process and runs its clock.
type Runner struct {
	client    *river.Client[pgx.Tx]
	clock     scheduler
	rescuer   jobRescuer
	notifier  *snoozeNotifier
	loops     sync.WaitGroup
	stopLoops context.CancelFunc // stops clock, rescuer and notifier; nil: not started
}

// New returns a Runner.
func New(o Options) (*Runner, error) { return newRunner(o, rarePollInterval) }

func newRunner(o Options, rarePoll time.Duration) (*Runner, error) {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	jobs := driver{riverpgxv5.New(o.Pool), o.ListenPool}
	notifier := newSnoozeNotifier(jobs.GetExecutor(), log)
	workers := river.NewWorkers()
	if err := errors.Join(
		river.AddWorkerSafely(workers, newSyncToolsWorker(o.Syncer, notifier)),
		river.AddWorkerSafely(workers, &SyncDueWorker{syncer: o.Syncer}),
	); err != nil {
		return nil, fmt.Errorf("set up the workers: %w", err)
	}
	poll := pollInterval
	if o.ListenPool == nil {
		poll, rarePoll = pollOnlyInterval, pollOnlyInterval
	}
	queues := map[string]river.QueueConfig{queue.Due: {MaxWorkers: dueWorkers, FetchPollInterval: rarePoll}}
	for _, name := range queue.Names() {
		queues[name] = river.QueueConfig{MaxWorkers: queueWorkers, FetchPollInterval: rarePoll}
	}
	config := &river.Config{
		ID:                          o.Syncer.Instance().String(), // identifies the jobs of dead processes
		Logger:                      slog.New(infoHandler{log.Handler()}),
		Queues:                      queues,
		Workers:                     workers,
		JobTimeout:                  jobTimeout,
		RescueStuckJobsAfter:        rescueAfter,
		FetchPollInterval:           poll,
		PollOnly:                    o.ListenPool == nil,
		CompletedJobRetentionPeriod: jobRetention,
		Middleware:                  append(traceMiddleware(o.Tracer), river.WorkerMiddlewareFunc(recoverPanic)),
	}
	for _, add := range o.Parts {
		if err := add(workers, config); err != nil {
			return nil, fmt.Errorf("set up the workers: %w", err)
		}
	}
	client, err := river.NewClient(jobs, config)
	if err != nil {
		return nil, fmt.Errorf("set up the workers: %w", err)
	}
	return &Runner{
		client:   client,
		clock:    scheduler{due: o.Due, hasTurn: o.Turn, begin: o.Syncer.SyncDueOnce, client: client, log: log},
		rescuer:  jobRescuer{self: o.Syncer.Instance().UUID, longQueued: o.Queued, pool: o.Pool, client: client, notifier: notifier, log: log},
		notifier: notifier,
	}, nil
}

// recoverPanic turns a worker's panic into the failure of its job. River would log the panic's value.
func recoverPanic(ctx context.Context, _ *rivertype.JobRow, work func(context.Context) error) (err error) {
	defer safe.RecoverTo(safe.Job, &err)
	return work(ctx)
}

// driver listens on connections of another pool.
type driver struct {
	*riverpgxv5.Driver
	listens *pgxpool.Pool
}

// GetListener implements riverdriver.Driver.
func (d driver) GetListener(params *riverdriver.GetListenenerParams) riverdriver.Listener {
	return riverpgxv5.New(d.listens).GetListener(params)
}

// Start works jobs until Stop.
func (r *Runner) Start(ctx context.Context) error {
	// River would stop when ctx ends; Stop does that, and waits.
	if err := r.client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start the workers: %w", err)
	}
	loopCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.stopLoops = stop
	safe.GoIn(&r.loops, safe.Background, func() { safe.RunLoop(loopCtx, "due syncs", r.clock.run) })
	safe.GoIn(&r.loops, safe.Background, func() { safe.RunLoop(loopCtx, "lost jobs", r.rescuer.run) })
	safe.GoIn(&r.loops, safe.Background, func() { safe.RunLoop(loopCtx, "returning jobs", r.notifier.run) })
	return nil
}

// Stop fetches no more jobs and waits for active ones; when ctx is done it cancels them. Stop the syncer before
// or at the same time: it interrupts the runs.
func (r *Runner) Stop(ctx context.Context) error {
	if r.stopLoops != nil {
		r.stopLoops()
		r.loops.Wait()
	}
	err := r.client.Stop(ctx)
	if err == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	return r.client.StopAndCancel(ctx)
}
