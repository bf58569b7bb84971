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
	// atOnce is how many syncs that somebody asked for a process has under way: each waits for its server nearly all of the time.
	atOnce = 128
	// perTenant leaves the others to the other tenants, however much one has queued, and however its servers hang.
	perTenant = 16
	// perQueue lets three tenants of one queue have all that they may; whose job finds no place does not keep its worker.
	perQueue = 3 * perTenant
	// jobTimeout is past the end of the longest run, which bounds itself.
	jobTimeout = toolsync.MaxDuration + time.Minute
	// rescueAfter is when a job counts as lost whatever its process says. Those of processes that are dead are free long before (rescue.go).
	rescueAfter = jobTimeout + 30*time.Second
	// pollInterval finds what a notification did not announce. Usually a job begins at once.
	pollInterval = 5 * time.Second
	// seldomPoll is the same of queues whose jobs are always announced, those that come back too (comeback.go): what was lost. There are
	// seventeen of them, and looking at all each few seconds would cost as much as the syncs of thousands of connectors.
	seldomPoll = 15 * time.Second
	// deafPoll is the same where nothing is announced: how late a job begins there.
	deafPoll = time.Second
	// dueWorkers is how many jobs of the clock a process has at once: they claim and end.
	dueWorkers = 24
	// jobsKept is how long a job that has ended is kept, for who looks.
	jobsKept = time.Hour
	// hardStop bounds the end of workers whose context is cancelled.
	hardStop = 15 * time.Second
)

// Options are what the workers need.
type Options struct {
	Pool    *pgxpool.Pool // gives connections for moments
	Listens *pgxpool.Pool // gives one to listen with: a pooler would make that one deaf; nil: jobs are polled for
	Syncer  *toolsync.Syncer
	Due     Due
	Turn    Turn            // nil: no other process has this database
	Queued  LongQueued      // nil: jobs of dead processes, and runs that lose theirs, wait for River
	Log     *slog.Logger    // nil: nowhere
	Tracer  *tracing.Tracer // nil: nobody looks
	Parts   []Part          // more workers, with their queues
}

// Runner works the jobs of this process, and is its clock.
type Runner struct {
	client *river.Client[pgx.Tx]
	clock  clock
	tender tender
	back   *comeback
	ticks  sync.WaitGroup
	halt   context.CancelFunc // of clock, tender and comeback; nil: not started
}

// New makes a Runner.
func New(o Options) (*Runner, error) { return newRunner(o, seldomPoll) }

func newRunner(o Options, seldom time.Duration) (*Runner, error) {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	jobs := driver{riverpgxv5.New(o.Pool), o.Listens}
	back := newComeback(jobs.GetExecutor(), log)
	workers := river.NewWorkers()
	if err := errors.Join(
		river.AddWorkerSafely(workers, newSyncToolsWorker(o.Syncer, back)),
		river.AddWorkerSafely(workers, &SyncDueWorker{syncer: o.Syncer}),
	); err != nil {
		return nil, fmt.Errorf("set up the workers: %w", err)
	}
	poll := pollInterval
	if o.Listens == nil {
		poll, seldom = deafPoll, deafPoll
	}
	queues := map[string]river.QueueConfig{queue.Due: {MaxWorkers: dueWorkers, FetchPollInterval: seldom}}
	for _, name := range queue.Names() {
		queues[name] = river.QueueConfig{MaxWorkers: perQueue, FetchPollInterval: seldom}
	}
	config := &river.Config{
		ID:                          o.Syncer.Instance().String(), // jobs of processes that are dead are told by it
		Logger:                      slog.New(quiet{log.Handler()}),
		Queues:                      queues,
		Workers:                     workers,
		JobTimeout:                  jobTimeout,
		RescueStuckJobsAfter:        rescueAfter,
		FetchPollInterval:           poll,
		PollOnly:                    o.Listens == nil,
		CompletedJobRetentionPeriod: jobsKept,
		Middleware:                  append(traced(o.Tracer), river.WorkerMiddlewareFunc(recovered)),
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
		client: client,
		clock:  clock{due: o.Due, turn: o.Turn, begin: o.Syncer.SyncFew, client: client, log: log},
		tender: tender{self: o.Syncer.Instance().UUID, queued: o.Queued, pool: o.Pool, client: client, back: back, log: log},
		back:   back,
	}, nil
}

// recovered makes a panic of a worker the failure of its job. River would log the panic's value.
func recovered(ctx context.Context, _ *rivertype.JobRow, work func(context.Context) error) (err error) {
	defer safe.RecoverTo(safe.Job, &err)
	return work(ctx)
}

// driver listens by other connections than it works with.
type driver struct {
	*riverpgxv5.Driver
	listens *pgxpool.Pool
}

// GetListener implements riverdriver.Driver.
func (d driver) GetListener(params *riverdriver.GetListenenerParams) riverdriver.Listener {
	return riverpgxv5.New(d.listens).GetListener(params)
}

// Start begins to work jobs, until Stop.
func (r *Runner) Start(ctx context.Context) error {
	// River would stop where ctx ends; stopping is Stop's, which waits.
	if err := r.client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start the workers: %w", err)
	}
	ticking, halt := context.WithCancel(context.WithoutCancel(ctx))
	r.halt = halt
	safe.GoIn(&r.ticks, safe.Background, func() { safe.RunLoop(ticking, "due syncs", r.clock.run) })
	safe.GoIn(&r.ticks, safe.Background, func() { safe.RunLoop(ticking, "lost jobs", r.tender.run) })
	safe.GoIn(&r.ticks, safe.Background, func() { safe.RunLoop(ticking, "returning jobs", r.back.run) })
	return nil
}

// Stop takes no more jobs and waits for those under way until ctx is done; then their contexts are cancelled. The syncer is to
// be stopped before or at the same time: it is what cuts runs off.
func (r *Runner) Stop(ctx context.Context) error {
	if r.halt != nil {
		r.halt()
		r.ticks.Wait()
	}
	err := r.client.Stop(ctx)
	if err == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hardStop)
	defer cancel()
	return r.client.StopAndCancel(ctx)
}
