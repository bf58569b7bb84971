package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"patchbay/internal/queue"
)

const (
	// rescueInterval is the interval of looking for lost jobs. With the heartbeat's timeout they are found in
	// half a minute; River itself waits for the longest job timeout.
	rescueInterval = 20 * time.Second
	// minQueuedTime is the age of queued runs to check, and maxQueuedRuns their number at once.
	minQueuedTime = 20 * time.Second
	maxQueuedRuns = 10000
)

// ListLongQueuedFunc lists up to limit runs queued for at least since, and the live processes. It is
// [store.System.ListLongQueuedFunc].
type ListLongQueuedFunc func(ctx context.Context, since time.Duration, limit int) (runs []queue.SyncTools, alive []uuid.UUID, err error)

// jobRescuer frees the jobs of dead processes (dead_jobs.go) and inserts new jobs for queued runs without one.
type jobRescuer struct {
	self       uuid.UUID          // this process
	longQueued ListLongQueuedFunc // nil: disabled
	pool       *pgxpool.Pool
	client     *river.Client[pgx.Tx]
	notifier   *snoozeNotifier // announces freed jobs
	log        *slog.Logger
}

// rescueOnce returns the number of inserted jobs. Two processes may insert a job each for the same run; the
// second job finds it begun.
func (r *jobRescuer) rescueOnce(ctx context.Context) (int, error) {
	if r.longQueued == nil {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, tickTimeout)
	defer cancel()
	runs, alive, err := r.longQueued(ctx, minQueuedTime, maxQueuedRuns)
	if err != nil {
		return 0, err
	}
	if _, err := r.freeDeadJobs(ctx, alive); err != nil || len(runs) == 0 {
		return 0, err
	}
	hasJob, err := r.findRunsWithJobs(ctx, runs, alive)
	if err != nil {
		return 0, err
	}
	var jobs []river.InsertManyParams
	for _, run := range runs {
		if !hasJob[run.SyncRunID] {
			jobs = append(jobs, river.InsertManyParams{Args: run})
		}
	}
	if len(jobs) == 0 {
		return 0, nil
	}
	if _, err := r.client.InsertManyFast(ctx, jobs); err != nil {
		return 0, fmt.Errorf("insert %d jobs for runs that lost theirs: %w", len(jobs), err)
	}
	r.log.InfoContext(ctx, "lost jobs of queued syncs replaced", slog.Int("runs", len(jobs)))
	return len(jobs), nil
}

// findRunsWithJobs returns the runs with a waiting job, or a job that a live process works. Jobs fetched in the
// last 10 s count too, for their process may not have sent a heartbeat yet.
func (r *jobRescuer) findRunsWithJobs(ctx context.Context, runs []queue.SyncTools, alive []uuid.UUID) (map[uuid.UUID]bool, error) {
	ids, aliveIDs := make([]string, len(runs)), make([]string, len(alive))
	for i, run := range runs {
		ids[i] = run.SyncRunID.String()
	}
	for i, id := range alive {
		aliveIDs[i] = id.String()
	}
	rows, err := r.pool.Query(ctx, `
		select (args ->> 'sync_run_id')::uuid
		from river_job
		where kind = $1 and finalized_at is null and args ->> 'sync_run_id' = any($2::text[])
		  and (state <> 'running' or attempted_by[array_upper(attempted_by, 1)] = any($3::text[]) or attempted_at > now() - interval '10 seconds')`,
		queue.SyncTools{}.Kind(), ids, aliveIDs)
	if err != nil {
		return nil, fmt.Errorf("look at the jobs of queued runs: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("look at the jobs of queued runs: %w", err)
	}
	hasJob := make(map[uuid.UUID]bool, len(found))
	for _, id := range found {
		hasJob[id] = true
	}
	return hasJob, nil
}

func (r *jobRescuer) run(ctx context.Context) {
	tick := time.NewTicker(rescueInterval)
	defer tick.Stop()
	for {
		if _, err := r.rescueOnce(ctx); err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "finding lost jobs failed", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
