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
	// lostEvery is how often each process looks for jobs that are lost with theirs, and for queued runs without one. With the silence after
	// which a process counts as dead they are found in half a minute; River itself waits for the longest job that there is.
	lostEvery = 20 * time.Second
	// longQueued is how long a run has waited that is looked at, and maxQueued how many of them at once.
	longQueued = 20 * time.Second
	maxQueued  = 10000
)

// LongQueued lists the runs that have been queued for so long, up to most, and the processes that are alive. It is
// [store.System.LongQueued].
type LongQueued func(ctx context.Context, since time.Duration, most int) (runs []queue.SyncTools, alive []uuid.UUID, err error)

// tender frees the jobs of dead processes (rescue.go), and gives queued runs a job again whose own is gone.
type tender struct {
	self   uuid.UUID  // this process
	queued LongQueued // nil: nobody looks
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
	back   *comeback // announces what is free again
	log    *slog.Logger
}

// tend looks once, and says how many jobs it inserted. Where two processes do at the same moment a run has two jobs, of which the
// second finds it begun.
func (t *tender) tend(ctx context.Context) (int, error) {
	if t.queued == nil {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, tickTimeout)
	defer cancel()
	runs, alive, err := t.queued(ctx, longQueued, maxQueued)
	if err != nil {
		return 0, err
	}
	if _, err := t.rescue(ctx, alive); err != nil || len(runs) == 0 {
		return 0, err
	}
	has, err := t.haveJobs(ctx, runs, alive)
	if err != nil {
		return 0, err
	}
	var jobs []river.InsertManyParams
	for _, run := range runs {
		if !has[run.SyncRunID] {
			jobs = append(jobs, river.InsertManyParams{Args: run})
		}
	}
	if len(jobs) == 0 {
		return 0, nil
	}
	if _, err := t.client.InsertManyFast(ctx, jobs); err != nil {
		return 0, fmt.Errorf("insert %d jobs for runs that lost theirs: %w", len(jobs), err)
	}
	t.log.InfoContext(ctx, "queued syncs whose jobs were lost have new ones", slog.Int("runs", len(jobs)))
	return len(jobs), nil
}

// haveJobs are the runs with a job that waits, or that a living process works. Who has just fetched one may not be known yet.
func (t *tender) haveJobs(ctx context.Context, runs []queue.SyncTools, alive []uuid.UUID) (map[uuid.UUID]bool, error) {
	ids, living := make([]string, len(runs)), make([]string, len(alive))
	for i, run := range runs {
		ids[i] = run.SyncRunID.String()
	}
	for i, id := range alive {
		living[i] = id.String()
	}
	rows, err := t.pool.Query(ctx, `
		select (args ->> 'sync_run_id')::uuid
		from river_job
		where kind = $1 and finalized_at is null and args ->> 'sync_run_id' = any($2::text[])
		  and (state <> 'running' or attempted_by[array_upper(attempted_by, 1)] = any($3::text[]) or attempted_at > now() - interval '10 seconds')`,
		queue.SyncTools{}.Kind(), ids, living)
	if err != nil {
		return nil, fmt.Errorf("look at the jobs of queued runs: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("look at the jobs of queued runs: %w", err)
	}
	has := make(map[uuid.UUID]bool, len(found))
	for _, id := range found {
		has[id] = true
	}
	return has, nil
}

// run tends until ctx ends.
func (t *tender) run(ctx context.Context) {
	tick := time.NewTicker(lostEvery)
	defer tick.Stop()
	for {
		if _, err := t.tend(ctx); err != nil && ctx.Err() == nil {
			t.log.WarnContext(ctx, "looking for lost jobs failed", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
