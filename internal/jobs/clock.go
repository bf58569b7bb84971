package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"patchbay/internal/queue"
)

const (
	// tickInterval is the maximum delay of a due sync.
	tickInterval = time.Second
	// earlyTicks: one tick in earlyTicks comes at a random moment of its second, so that the first of several
	// processes varies.
	earlyTicks = 8
	// tickTimeout bounds the queries of a tick.
	tickTimeout = 5 * time.Second
	// maxLocalDue is the number of due connectors up to which they are started locally, or by one job for all
	// shards: one claim.
	maxLocalDue = 100
)

// CountDueFunc counts unclaimed due connectors by shard, up to max in each. It is [store.SystemSyncs.DueShards].
type CountDueFunc func(ctx context.Context, max int) (map[int]int, error)

// ClaimTickFunc reports whether this process inserts the jobs of this second. It is [store.SystemSyncs.ClaimClockTick].
type ClaimTickFunc func(ctx context.Context) (bool, error)

// scheduler starts due syncs if they are few, else inserts jobs for all processes. Every process has one.
type scheduler struct {
	due     CountDueFunc
	hasTurn ClaimTickFunc // nil: always true
	begin   func(ctx context.Context) (started int, more bool, err error)
	client  *river.Client[pgx.Tx]
	log     *slog.Logger

	startedSome bool // the last tick started a few syncs, so more are likely
}

func (c *scheduler) run(ctx context.Context) {
	tick := time.NewTimer(tickInterval)
	defer tick.Stop()
	for {
		if err := c.startDue(ctx); err != nil && ctx.Err() == nil {
			c.log.WarnContext(ctx, "finding due syncs failed", slog.Any("error", err))
		}
		wait := tickInterval
		if rand.N(earlyTicks) == 0 {
			wait = rand.N(tickInterval)
		}
		tick.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// startDue starts due syncs or inserts jobs for them:
//
//  1. count what is due, in one cheap statement; skipped if the last tick started a few
//  2. start it here if it is little
//  3. insert jobs for what remains, for all processes
func (c *scheduler) startDue(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tickTimeout)
	defer cancel()
	isSmall := c.startedSome
	c.startedSome = false
	var due map[int]int
	var err error
	if !isSmall {
		if due, err = c.due(ctx, maxLocalDue); err != nil || len(due) == 0 {
			return err
		}
		isSmall = totalDue(due) <= maxLocalDue
	}
	if isSmall {
		started, more, err := c.begin(ctx)
		if err != nil || !more {
			c.startedSome = started > 0
			return err
		}
		if due, err = c.due(ctx, maxLocalDue); err != nil || len(due) == 0 {
			return err
		}
	}
	return c.insertJobs(ctx, due)
}

// insertJobs inserts jobs for what is due. Only one process does in a second.
func (c *scheduler) insertJobs(ctx context.Context, due map[int]int) error {
	if c.hasTurn != nil {
		if isTurn, err := c.hasTurn(ctx); err != nil || !isTurn {
			return err
		}
	}
	waiting, err := c.client.JobList(ctx, river.NewJobListParams().
		Kinds(queue.SyncDue{}.Kind()).States(rivertype.JobStateAvailable).First(queue.Count))
	if err != nil {
		return fmt.Errorf("look at the jobs that wait: %w", err)
	}
	jobs := newDueJobs(due, len(waiting.Jobs))
	if len(jobs) == 0 {
		return nil
	}
	if _, err := c.client.InsertManyFast(ctx, jobs); err != nil {
		return fmt.Errorf("insert %d jobs for what is due: %w", len(jobs), err)
	}
	return nil
}

func totalDue(due map[int]int) int {
	n := 0
	for _, shard := range due {
		n += shard
	}
	return n
}

// newDueJobs returns the jobs to insert beside the waiting ones: one for all shards if little is due, else one
// a shard. They are shuffled, so that the limit does not always drop the same shards.
func newDueJobs(due map[int]int, waiting int) []river.InsertManyParams {
	var jobs []river.InsertManyParams
	if totalDue(due) <= maxLocalDue {
		jobs = append(jobs, river.InsertManyParams{Args: queue.SyncDue{Shard: queue.AllShards}})
	} else {
		for shard := range due {
			jobs = append(jobs, river.InsertManyParams{Args: queue.SyncDue{Shard: shard}})
		}
		rand.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	}
	return jobs[:max(0, len(jobs)-waiting)]
}
